/// \file
/// The fixture and samples that the store's tests share: a directory, a unit and a link to store,
/// and functions for the ages of files.
#pragma once

#include "Store/DeviceLink.h"
#include "Store/Unit.h"
#include "Support/Files.h"
#include "unit/ResultTesting.h"

#include "gtest/gtest.h"

#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>

namespace carve {

/// A fixture with a directory that is removed after the test.
class StoreTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::Expected<TempDir> Created = TempDir::create("carve store ü");
    ASSERT_TRUE(static_cast<bool>(Created)) << llvm::toString(Created.takeError());
    Dir = std::make_unique<TempDir>(std::move(*Created));
    Root = Dir->path() + "/the store";
  }

  /// Returns the files below the root, temporaries included.
  std::vector<std::string> files() const {
    std::vector<std::string> Found;
    if (std::filesystem::exists(Root))
      for (const auto &Entry : std::filesystem::recursive_directory_iterator(Root))
        if (Entry.is_regular_file())
          Found.push_back(Entry.path());
    return Found;
  }

  std::unique_ptr<TempDir> Dir;
  std::string Root;
};

inline void setAge(const std::string &Path, long Seconds) {
  timespec Now{};
  clock_gettime(CLOCK_REALTIME, &Now);
  Now.tv_sec -= Seconds;
  timespec Both[2] = {Now, Now};
  ASSERT_EQ(utimensat(AT_FDCWD, Path.c_str(), Both, 0), 0) << Path;
}

inline long ageOf(const std::string &Path) {
  struct stat Status{};
  EXPECT_EQ(stat(Path.c_str(), &Status), 0) << Path;
  return time(nullptr) - Status.st_mtime;
}

inline DeviceLink sampleLink() {
  DeviceLink L;
  L.Key = "fedcba9876543210fedcba9876543210";
  L.Project = "/home/dev/pro ject";
  L.Output = "app";
  L.Directory = "/home/dev/latin1-\xe9"; // This is not UTF-8.
  L.Command = {"a.o", "liba.a", "-o", "app"};
  L.Nvcc = "/usr/local/cuda/bin/nvcc";
  L.NvccVersion = "13.0.88";
  L.Containers = {"cccccccccccccccccccccccccccccccc"};
  L.Inputs = {{"a.o", "", 0, {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}, {"liba.a", "b.o", 1, {}}};
  L.Images = {{"sm_90", "", {"-m64", "--arch=sm_90"}}};
  return L;
}

inline Unit sampleUnit() {
  Unit U;
  U.Key = "0123456789abcdef0123456789abcdef";
  U.Project = "/home/dev/pro ject";
  U.Source = "src/k.cu";
  U.Output = "/home/dev/pro ject/b/k\xc3\xa9.o";
  U.Directory = "/home/dev/latin1-\xe9"; // This is not UTF-8.
  U.Command = {"-O3", "-c", "src/k.cu", "-DNAME=\"a b\"", ""};
  U.Nvcc = "/usr/local/cuda/bin/nvcc";
  U.NvccVersion = "13.0.88";
  U.Relocatable = true;
  U.RegisterCap = 64;
  U.Containers = {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"};
  UnitImage Image;
  Image.Arch = "sm_90";
  Image.PtxasOptions = {"-arch=sm_90", "-m64"};
  Image.PtxName = "k.ptx";
  KernelResources K;
  K.Name = "_Z1kPd";
  K.RegsPerThread = 255;
  K.StaticSmemBytes = 4294967295u;
  K.StackBytes = 8;
  K.SpillStoreBytes = 4;
  K.SpillLoadBytes = 12;
  K.Barriers = 1;
  K.StackUnknown = true;
  Image.Kernels = {K, {}};
  U.Images = {Image};
  EmbeddedPtx Ptx;
  Ptx.Compute = 90;
  Ptx.PtxName = "k.compute_90.ptx";
  Ptx.PtxasOptions = {"-m64"};
  U.Ptx = {Ptx};
  return U;
}

} // namespace carve
