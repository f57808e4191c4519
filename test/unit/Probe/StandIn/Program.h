/// \file
/// What the scenarios of the test program share: its kernels, and memory with a checksum.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <vector>

namespace carve::standin {

/// Ends the program with status 90 if \p Status is an error.
void checkCall(CUresult Status, const char *Call);
#define CHECK(Call) ::carve::standin::checkCall((Call), #Call)

struct Kernels {
  CUlibrary Library = nullptr;
  CUfunction Scale = nullptr, Step = nullptr, Sum = nullptr, Append = nullptr, Count = nullptr,
             Masked = nullptr;
  Kernels();
  static const void *image();
};

/// An array of floats on the device.
struct Buffer {
  CUdeviceptr Base = 0;
  unsigned Count = 0;

  Buffer(unsigned Count, unsigned Seed);
  void fill(unsigned Seed) const;
  void free() const { CHECK(cuMemFree(Base)); }
  std::vector<unsigned> words() const;
  uint64_t checksum() const;
  void print(const char *Name) const;
};

void launch(CUfunction Kernel, CUstream Stream, std::vector<void *> Arguments,
            unsigned Blocks = 16);

struct Scenario {
  const char *Name;
  void (*Run)(Kernels &K);
};
const std::vector<Scenario> &scenarios();
void otherVariables(Kernels &K);
void threadStream(Kernels &K);
void counted(Kernels &K);
void hostLarge(Kernels &K);
void hostLargeSlow(Kernels &K);
void hostMasked(Kernels &K);
void managedMasked(Kernels &K);
void hostWritten(Kernels &K);
void hostInConstant(Kernels &K);
void constantAsArgument(Kernels &K);
void constantInMemory(Kernels &K);
void factorsInMemory(Kernels &K);
void linkedVariable(Kernels &K);
void managedVariable(Kernels &K);
void unknownCall(Kernels &K);
void sandboxed(Kernels &K);
void lengths(Kernels &K);
void manyLengths(Kernels &K);
void twoInTurn(Kernels &K);
void capturedBetween(Kernels &K);
void converging(Kernels &K);
void shrinking(Kernels &K);
void shrinkingToManaged(Kernels &K);
void packed(Kernels &K);
void randomGraphs(Kernels &K);
void unheardOfNode(Kernels &K);
void pageableCopy(Kernels &K);
void deviceLaunched(Kernels &K);
void besideDeviceLaunched(Kernels &K);
void refusedUpdate(Kernels &K);
void waitingNodes(Kernels &K);
void tiedObjects(Kernels &K);
void sharedStream(Kernels &K);
void longChain(Kernels &K);
void graphContexts(Kernels &K);
void countedGraph(Kernels &K);
void graphSteps(Kernels &K);
void graphMemory(Kernels &K);
void graphProgrammatic(Kernels &K);
void graphProgrammaticMemory(Kernels &K);
void graphSemaphores(Kernels &K);
void graphMemoryOperations(Kernels &K);
void capturedOperations(Kernels &K);
void graphConditional(Kernels &K);
void graphConditionalTwice(Kernels &K);

} // namespace carve::standin
