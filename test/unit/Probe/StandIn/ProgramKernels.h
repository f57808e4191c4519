/// \file
/// The kernels of the test program (Program.cpp) with their clones, of which one may be bad.
#pragma once

#include <cuda.h>

#include <string>

namespace carve::standin {

/// The only count for which a clone that takes it as known is right.
inline constexpr unsigned KnownCount = 4096;

/// Registers `scale`, `step`, `sum`, `append` and `count`, each with `<name>__carve_control`,
/// `<name>__fast` (which does the same in less time) and `<name>__odd` (which also does the same,
/// unless \p Bad says otherwise):
///   wrong         its result is another one
///   stray         it also writes where the kernel itself never writes
///   hang          it never ends
///   break         it breaks the context
///   known         it takes its count for KnownCount, as code that is compiled for that value
///   by-count      no fault: the times of all kernels are in proportion to their count
///   other-ids     no fault: as by-count, and the records of launches have ids that no call has
///   builds        no fault: `append` breaks the context if it finds a list that it has made, as a
///                 kernel does that builds a tree and follows its addresses
///   goes-on       no fault: `append` writes one half of the list, the second if the first is there
///   seldom        no fault: `sum` adds in one order in its first runs, and then in any
///   seldom-wrong  as seldom, and as wrong
///   settles       no fault: a launch that finds its own output takes a tenth of the time
///   long          no fault: all kernels take eight times as long, and more than 2 ms
///   after-flush   no fault: as long, and half longer if the probe has just read memory
///   after-others  no fault: as long, and half longer unless the probe has just copied memory
///   behind-writes no fault: a tenth shorter if the probe has just copied or read memory
///   behind-writes-once no fault: as behind-writes in the first launches; in later ones a tenth
///                 longer if the probe has just filled memory
///   behind-program no fault: a tenth shorter if the probe has just done anything
///   far-from-program no fault: half as long if the probe has just copied or read memory
///   written-inputs no fault: half longer if the probe has just read memory, as long if it has then
///                 copied, and a tenth shorter if it has only copied
///   read-inputs   no fault: as written-inputs, but half longer if it has read and then copied
///   near-inputs   no fault: as written-inputs, but a tenth shorter if it has read and then copied
///   even-inputs   no fault: as written-inputs, but 3 % longer if it has just read memory, and 4 %
///                 shorter if it has then copied
///   whole-inputs  no fault: as written-inputs, if what it has copied has eight times the bytes of
///                 the count, from the first argument on
///   builds-once   no fault: `count` builds something if its variable is 0, and breaks the context
///                 if the variable says so and nothing is built; as written-inputs, and a tenth
///                 shorter behind a launch of the probe
///   beside-clones no fault: half longer if the last launch of another kernel was a clone's
///   after-other   as by-count, and half longer if the launch before with this count had other code
void registerProgramKernels(const std::string &Bad);

/// While the first element of what `step` changes is \p First, `step` takes 20 ms longer.
void setLongStart(float First);

/// The place to which a clone that writes astray writes.
void setStrayTarget(CUdeviceptr Target);

} // namespace carve::standin
