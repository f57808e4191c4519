/* Loaded before the C library's functions (LD_PRELOAD), it makes a machine without a GPU look as if
 * it had one: carve looks for its device file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

int access(const char *path, int mode) {
  int (*next)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
  return strcmp(path, "/dev/nvidia0") == 0 ? 0 : next(path, mode);
}
