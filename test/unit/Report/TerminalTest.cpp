#include "Report/Terminal.h"

#include "gtest/gtest.h"

using namespace carve;

TEST(Terminal, progress_showsRunsAndTimeLeft) {
  EXPECT_EQ(progressText(0, 0, 0.1), "tuning, run 1");
  EXPECT_EQ(progressText(0, 40, 0.1), "tuning, run 1");
  EXPECT_EQ(progressText(10, 40, 20), "tuning, run 11 of about 40, 1:00 left");
  EXPECT_EQ(progressText(39, 40, 78), "tuning, run 40 of about 40, 0:02 left");
  EXPECT_EQ(progressText(1, 62, 60), "tuning, run 2 of about 62, 61:00 left");
}

TEST(Terminal, summary_ofUntunedProgram_isOneLine) {
  TuningReport R;
  R.Workload = "./app";
  R.Note = "the program launched no kernel";
  EXPECT_EQ(terminalSummary(R),
            "carve-nvcc: note: ./app was not tuned: the program launched no kernel\n");
}

TEST(Terminal, disabledProgress_printsNothing) {
  testing::internal::CaptureStderr();
  {
    TerminalProgress Off({}), On({.Line = true});
    for (ProgressDisplay *P : {&Off, &On}) {
      P->runs(1, 2, 1);
      P->note("timing again");
    }
    On.clear();
    On.clear();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\033[Kcarve-nvcc: tuning, run 2 of about 2, 0:01 left\r\033[K");
}

TEST(Terminal, steps_showWhatIsDoneAndTimeLeft) {
  EXPECT_EQ(stepText("timing", 0, 40, 9), "timing, 0 of 40");
  EXPECT_EQ(stepText("timing", 12, 40, 0.5), "timing, 12 of 40");
  EXPECT_EQ(stepText("timing", 10, 40, 20), "timing, 10 of 40, 1:00 left");
  EXPECT_EQ(stepText("timing", 40, 40, 20), "timing, 40 of 40");
}

TEST(Terminal, steps_areShownTenTimesASecondAndTimedFromTheFirst) {
  double Time = 100;
  testing::internal::CaptureStderr();
  {
    TerminalProgress P({.Program = "carve", .Line = true}, [&] { return Time; });
    P.step("compiling", 0, 4);
    P.step("compiling", 1, 4); // This comes too soon to be shown.
    Time = 102;
    P.step("compiling", 2, 4);
    P.step("compiling", 4, 4); // The end is always shown.
    P.step("timing", 0, 2);
    Time = 103;
    P.step("timing", 1, 2);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\033[Kcarve: compiling, 0 of 4\r\033[Kcarve: compiling, 2 of 4, 0:02 left"
            "\r\033[Kcarve: compiling, 4 of 4\r\033[Kcarve: timing, 0 of 2"
            "\r\033[Kcarve: timing, 1 of 2, 0:01 left\r\033[K");
}

TEST(Terminal, note_lineShown_replacesItAndStays) {
  testing::internal::CaptureStderr();
  {
    TerminalProgress P({.Program = "carve", .Line = true, .Notes = true});
    P.runs(0, 0, 0);
    P.note("timing again: r32 of k ended the timing run");
    P.runs(1, 0, 0);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\033[Kcarve: tuning, run 1\r\033[K"
            "carve: note: timing again: r32 of k ended the timing run\n"
            "\r\033[Kcarve: tuning, run 2\r\033[K");
}

TEST(Terminal, note_withoutLine_isPrinted) {
  testing::internal::CaptureStderr();
  {
    TerminalProgress P({.Program = "carve", .Notes = true});
    P.runs(0, 0, 0);
    P.step("compiling", 0, 1);
    P.waiting("waiting for GPU 0");
    P.note("timing again");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "carve: note: timing again\n");
}

TEST(Terminal, waiting_over_removesTheLine) {
  testing::internal::CaptureStderr();
  TerminalProgress P({.Line = true});
  P.waiting("waiting for GPU 0");
  P.waiting("");
  P.waiting("");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\033[Kcarve-nvcc: waiting for GPU 0\r\033[K");
}
