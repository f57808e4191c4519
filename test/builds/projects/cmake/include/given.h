#define GIVEN 3
