#include "Support/Error.h"

using namespace carve;

char UsageError::ID = 0;
char Unsupported::ID = 0;
char Untraceable::ID = 0;
char Interrupted::ID = 0;
char ToolFailure::ID = 0;
