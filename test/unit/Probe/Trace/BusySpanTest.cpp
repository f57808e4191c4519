#include "Probe/Trace/BusySpan.h"

#include <gtest/gtest.h>

using carve::probe::BusySpan;

TEST(BusySpan, gaps_areNotBusy) {
  BusySpan Span;
  EXPECT_EQ(Span.drain(), "");
  Span.add(100, 110);
  Span.add(150, 170);
  EXPECT_EQ(Span.drain(), "span\t100\t170\t30\n");
  EXPECT_EQ(Span.drain(), "") << "each line tells what is new";
}

TEST(BusySpan, concurrentKernels_countOnce) {
  BusySpan Span;
  // Kernels come in the order of their ends; the one that began first comes last.
  Span.add(20, 50);
  Span.add(0, 100);
  Span.add(90, 120);
  EXPECT_EQ(Span.drain(), "span\t0\t120\t120\n");
  // This kernel is delivered later, although it ran at the same time as another one.
  Span.add(110, 130);
  Span.add(5, 60);
  EXPECT_EQ(Span.drain(), "span\t5\t130\t10\n");
}
