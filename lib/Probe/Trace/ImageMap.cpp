#include "Probe/Trace/ImageMap.h"

#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
using namespace carve::probe;

static bool readFully(int Fd, char *To, size_t Bytes) {
  for (size_t Done = 0; Done < Bytes;) {
    ssize_t Count = ::pread(Fd, To + Done, Bytes - Done, static_cast<off_t>(Done));
    if (Count <= 0)
      return false;
    Done += static_cast<size_t>(Count);
  }
  return true;
}

static std::optional<LoadedFile> loadOpenFile(int Fd) {
  struct stat Status;
  if (::fstat(Fd, &Status) != 0 || !S_ISREG(Status.st_mode) || Status.st_size <= 0)
    return std::nullopt;
  auto Bytes = static_cast<size_t>(Status.st_size);
  void *Data =
      ::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, /*offset=*/0);
  if (Data == MAP_FAILED)
    return std::nullopt;
  LoadedFile Result{Data, Bytes};
  if (readFully(Fd, static_cast<char *>(Data), Bytes))
    return Result;
  unloadFile(Result);
  return std::nullopt;
}

std::optional<LoadedFile> carve::probe::loadFile(const char *Path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  int Fd = ::open(Path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (Fd < 0)
    return std::nullopt;
  auto Result = loadOpenFile(Fd);
  ::close(Fd);
  return Result;
}

void carve::probe::unloadFile(const LoadedFile &File) {
  ::munmap(const_cast<void *>(File.Data), File.Bytes);
}

static void load(ImageMap::Image &Image) {
  auto File = loadFile(Image.Path.c_str());
  if (!File)
    Image.Reason = "image-unreadable";
  // The driver trusts the sizes in the header, so it would read beyond the end of a truncated file.
  else if (!findContainer(File->Data, File->Bytes))
    Image.Reason = "image-malformed";
  else
    Image.Data = File->Data;
}

bool ImageMap::read(const char *File) {
  std::ifstream In(File);
  if (!In)
    return false;
  for (std::string Line; std::getline(In, Line);) {
    size_t Tab = Line.find('\t');
    if (Tab != 32 || Line.size() == Tab + 1)
      return false;
    Images[Line.substr(0, Tab)].Path = Line.substr(Tab + 1);
  }
  for (auto &[Digest, Image] : Images)
    load(Image);
  return In.eof();
}

const ImageMap::Image *ImageMap::find(std::string_view Digest) const {
  auto It = Images.find(std::string(Digest));
  return It == Images.end() ? nullptr : &It->second;
}
