// carve capture and carve tune --from, as far as they get without a GPU.
#include "Captures/File/CaptureFile.h"
#include "DriverTier.h"

using namespace carve;

namespace {

class CaptureCommandTest : public DriverTierTest {
protected:
  CaptureCommandTest() { Env["CUDA_VISIBLE_DEVICES"] = ""; }
};

} // namespace

TEST_F(CaptureCommandTest, capture_withoutAGpu_fails) {
  const std::string None =
      "no GPU is present (no /dev/nvidia*, or CUDA_VISIBLE_DEVICES hides it); ";
  expectError({"capture", "--", "app"},
              None + "captures are taken from a program that runs on one");
  expectError({"tune", "--from", "a.carvecap"}, None + "tuning times kernels on one");
}

TEST_F(CaptureCommandTest, mistakes_nameWhatWasExpected) {
  expectError({"capture"}, "carve capture: no command, expected: carve capture -- COMMAND...");
  expectError({"capture", "app"},
              "carve capture: unexpected 'app', expected the command after '--'");
  expectError({"capture", "--list"}, "expected: carve capture --list FILE...");
  expectError({"capture", "-o", "--", "app"}, "carve capture: -o needs a value: -o ...");
  expectError({"capture", "--launches=0", "--", "app"},
              "carve capture: --launches is '0', expected a whole number from 1 to 1000");
  expectError({"tune", "--from"}, "carve tune: --from needs a value: --from=...");
  expectError({"tune", "--samples=s", "--from", "no.carvecap"},
              "'" + path("work/no.carvecap") + "': No such file or directory");
  expectError({"tune", "--mode", "--", "app"}, "carve tune: --mode needs a value: --mode=...");
  expectError({"tune", "--mode=fast", "--", "app"},
              "carve tune: --mode is 'fast', expected auto or fixed or rotate or replay");
  expectError({"tune", "--budget=nan", "--", "app"},
              "carve tune: --budget is 'nan', expected a number of seconds above 0");
  for (std::string Gpus : {"x", "0,0", "-1"})
    expectError({"tune", "--gpus=" + Gpus, "--", "app"},
                "carve tune: --gpus is '" + Gpus +
                    "', expected 'all' or different numbers of GPUs, such as 0,2");
  expectError({"recheck", "--gpus=", "--", "app"},
              "carve recheck: --gpus is '', expected 'all' or different numbers of GPUs, such as "
              "0,2");
  expectError({"tune", "--from", "a.carvecap", "--", "app"},
              "carve tune: --from and a command exclude each other");
}

TEST_F(CaptureCommandTest, list_ofACapture_tellsItsContents) {
  CaptureWriter W = llvm::cantFail(CaptureWriter::create(path("work/k.carvecap")));
  Capture C;
  C.Kernel = "_Z5scalePf";
  C.Shape = {{128, 1, 1}, {256, 1, 1}, 0, {1, 1, 1}};
  C.Cooperative = true;
  C.Launch = 3;
  C.TracedLaunches = 9;
  C.MeanNs = 12345;
  C.Device = "NVIDIA H200";
  C.Arch = "sm_90";
  C.DriverVersion = "580.1";
  C.Workload = "./app 7";
  C.Attributes["stack-bytes"] = 1024;
  C.Memory = {{4096, "device", W.put(std::string(3'000'000, 0)), {}}};
  C.LoadCall = "cuLibraryLoadData";
  C.ContainerDigest = "abc";
  C.Container = W.put("container");
  llvm::cantFail(W.finish(C));
  Ended E = carve({"capture", "--list", "k.carvecap"});
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_EQ(E.Stdout, "k.carvecap\n"
                      "  kernel     scale(float*)\n"
                      "  launch     128,1,1 256,1,1 cooperative, number 3 of 9, mean 12.3 us\n"
                      "  device     NVIDIA H200 (sm_90), driver 580.1\n"
                      "  memory     3.0 MB in 1 range(s), 0 variable(s)\n"
                      "  file       0.0 MB\n"
                      "  container  abc, 9 bytes, by cuLibraryLoadData\n"
                      "  units      0 (can be launched, not tuned)\n"
                      "  workload   ./app 7\n"
                      "  attribute  stack-bytes 1024\n");
  write("work/no.carvecap", "something");
  expectError({"capture", "--list", "no.carvecap"},
              "no.carvecap: not a capture: expected 'carve-capture <format>' in the first line");
}
