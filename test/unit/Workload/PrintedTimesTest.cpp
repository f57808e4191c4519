#include "Workload/PrintedTimes.h"

#include <gtest/gtest.h>

using namespace carve;

TEST(PrintedTimes, numbersWithUnitsOfTime_areMarked) {
  EXPECT_EQ(withoutTimes("Initialization Complete. (0.04 seconds)"),
            "Initialization Complete. (# seconds)");
  EXPECT_EQ(withoutTimes("Average kernel execution time:   12.5 (ms)"),
            "Average kernel execution time: # (ms)");
  EXPECT_EQ(withoutTimes("Total time (s): 1.5e-03"), "Total time (s): #");
  EXPECT_EQ(withoutTimes("time =   2 ms, rate = 5 GHash/sec, inf GFLOPS"),
            "time = # ms, rate = # GHash/sec, # GFLOPS");
  EXPECT_EQ(withoutTimes("1.25us 3s 7 lookups per second, 9 MHz"),
            "#us #s # lookups per second, # MHz");
  EXPECT_EQ(withoutTimes("3 s 4 s"), "# s # s") << "neighbours";
  EXPECT_EQ(withoutTimes("at -3 s"), "at -# s") << "the sign stays";
  EXPECT_EQ(withoutTimes("0.000001 s, 0.00015 % : SETUP"), "# s, # % : SETUP");
  EXPECT_EQ(withoutTimes("kernel 3.1 ms (12%), 50 % full"), "kernel # ms (#%), 50 % full");
  EXPECT_EQ(withoutTimes("0.35 s, 91.2 % correct"), "# s, 91.2 % correct");
}

TEST(PrintedTimes, timesForOneOfSomething_areMarked) {
  EXPECT_EQ(withoutTimes("Grind time (us/z/c)  =      0.125 (per dom)  (   0.125 overall)"),
            "Grind time (us/z/c) = # (per dom) ( # overall)");
  EXPECT_EQ(withoutTimes("FOM                  =      8000.1 (z/s)"), "FOM = # (z/s)");
  EXPECT_EQ(withoutTimes("step [ms/iteration]: 3.5, 7 (seconds/step)"),
            "step [ms/iteration]: #, # (seconds/step)");
  // What may be a result stays.
  for (const char *Line :
       {"time (ms) = # (5 errors)", "time (s): # (37 total)", "time (ms): # (0.0012 mean)",
        "time (ms) = #, sum 2 (4 overall)", "time (ms) = # (4 overall)",
        "energy = 3.5 (per dom) (4 overall)", "conductivity (S/m) = 5.96", "sigma 5.96 (mS/cm)",
        "SNR (S/N): 23.4", "score 0.91 (s/n)", "accel (m/s/s) = 9.81", "heat flux (J/s/m2): 1.25"})
    EXPECT_EQ(withoutTimes(Line), Line);
  EXPECT_NE(formOfTimes("3 (us/zone)"), formOfTimes("3 (us/step)"));
}

TEST(PrintedTimes, lines_ofOneFormatHaveOneForm) {
  std::string Form = formOfTimes("0.000001 s, 0.00015 % : SETUP VARIABLES");
  EXPECT_EQ(formOfTimes("1.5 s, 98.2 % :  RUN GPU KERNEL"), Form);
  for (const char *Other : {"1.5 ms, 98.2 % : RUN", "1.5 s : RUN", "RUN : 1.5 s, 98.2 %",
                            "1.5 s, 98.2 % : RUN 2", "98.2 % : RUN", "RUN"})
    EXPECT_NE(formOfTimes(Other), Form) << Other;
  EXPECT_NE(formOfTimes("elapsed [s]: 0.5"), formOfTimes("frequency [Hz]: 12"));
  EXPECT_EQ(formOfTimes("elapsed [s]: 0.5"), formOfTimes("of the kernel [s]: 0.1"));
}

TEST(PrintedTimes, otherNumbers_stay) {
  for (const char *Line : {"sum 1", "checksum 0.04", "size 12 MB", "12 samples", "v2s", "a.3 s",
                           "3 m", "12 %", "energy [J]: 5", "nan s", "", "1 2 3"})
    EXPECT_EQ(withoutTimes(Line), Line);
}
