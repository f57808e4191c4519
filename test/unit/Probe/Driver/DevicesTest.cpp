#include "Probe/Driver/Devices.h"

#include <gtest/gtest.h>

using namespace carve::probe;

TEST(Devices, kernelDriverVersion_isFoundInEveryFormOfTheText) {
  EXPECT_EQ(parseKernelDriverVersion("580.159.03\n"), "580.159.03");
  EXPECT_EQ(parseKernelDriverVersion("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  "
                                     "Tue Jun  6 22:20:39 UTC 2023\nGCC version:  gcc 12.2.0\n"),
            "535.54.03");
  EXPECT_EQ(parseKernelDriverVersion("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                     "580.95.05  Release Build  (dvs-builder@U22)\n"),
            "580.95.05");
  EXPECT_EQ(parseKernelDriverVersion(""), "-");
  EXPECT_EQ(parseKernelDriverVersion("no version. here .5 5."), "-");
}
