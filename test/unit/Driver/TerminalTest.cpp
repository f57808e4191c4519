#include "Driver/Terminal.h"

#include "gtest/gtest.h"

using namespace carve;

TEST(Terminal, ProgressTellsRunsAndTimeLeft) {
  EXPECT_EQ(progressText(0, 0, 0.1), "carve-nvcc: tuning, run 1");
  EXPECT_EQ(progressText(0, 40, 0.1), "carve-nvcc: tuning, run 1");
  EXPECT_EQ(progressText(10, 40, 20), "carve-nvcc: tuning, run 11 of about 40, 1:00 left");
  EXPECT_EQ(progressText(39, 40, 78), "carve-nvcc: tuning, run 40 of about 40, 0:02 left");
  EXPECT_EQ(progressText(1, 62, 60), "carve-nvcc: tuning, run 2 of about 62, 61:00 left");
}

TEST(Terminal, WhatWasNotTunedIsOneLine) {
  TuningReport R;
  R.Workload = "./app";
  R.Note = "the program launched no kernel";
  EXPECT_EQ(terminalSummary(R),
            "carve-nvcc: note: ./app was not tuned: the program launched no kernel\n");
}

TEST(Terminal, ADisabledProgressPrintsNothing) {
  testing::internal::CaptureStderr();
  {
    TerminalProgress Off(false), On(true);
    Off.show(1, 2, 1);
    On.show(1, 2, 1);
    On.clear();
    On.clear();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\033[Kcarve-nvcc: tuning, run 2 of about 2, 0:01 left\r\033[K");
}
