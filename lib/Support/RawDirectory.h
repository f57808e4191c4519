/// \file
/// Reads the entries of an open directory by the system call itself, because readdir() allocates,
/// which a signal handler must not do. RemoveTree and TempDir use it.
#pragma once

#include <cstdint>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace carve {

/// Calls \p Visit with the name of each entry of \p Directory except `.` and `..`, starting at the
/// descriptor's position.
template <typename F> void forEachEntry(int Directory, F Visit) {
  struct KernelEntry { // This has the layout of linux/dirent.h.
    uint64_t Inode;
    int64_t Offset;
    unsigned short Bytes;
    unsigned char Type;
    char Name[1];
  };
  alignas(KernelEntry) char Buffer[2048];
  for (long Bytes; (Bytes = ::syscall(SYS_getdents64, Directory, Buffer, sizeof(Buffer))) > 0;)
    for (long At = 0; At < Bytes;) {
      auto *Entry = reinterpret_cast<KernelEntry *>(Buffer + At);
      At += Entry->Bytes;
      if (std::strcmp(Entry->Name, ".") != 0 && std::strcmp(Entry->Name, "..") != 0)
        Visit(static_cast<const char *>(Entry->Name));
    }
}

} // namespace carve
