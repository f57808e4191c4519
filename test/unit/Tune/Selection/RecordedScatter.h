/// \file
/// Draws from scatter that was recorded on a GPU (test/Inputs/scatter), for simulations of the
/// confirmation.
#pragma once

#include "Support/Files.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace carve {

/// The recorded deviations of one kernel's time from its median.
struct RecordedScatter {
  std::string Name;
  std::vector<double> Deviations; ///< Relative.

  /// One of the deviations, drawn with \p Random.
  double draw(std::mt19937_64 &Random) const { return Deviations[Random() % Deviations.size()]; }
};

/// All recorded kernels, by rising standard deviation.
inline std::vector<RecordedScatter> recordedScatter() {
  std::string Text = llvm::cantFail(readFile(CARVE_TEST_INPUTS "/scatter/h200.tsv"));
  llvm::SmallVector<llvm::StringRef, 16> Lines;
  llvm::StringRef(Text).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  std::vector<RecordedScatter> All;
  for (llvm::StringRef Line : llvm::ArrayRef(Lines).drop_front()) {
    llvm::SmallVector<llvm::StringRef, 4> Fields;
    llvm::SmallVector<llvm::StringRef, 0> Values;
    Line.split(Fields, '\t');
    Fields[3].split(Values, ' ');
    RecordedScatter &Kernel = All.emplace_back();
    Kernel.Name = Fields[0].str();
    for (llvm::StringRef Value : Values) {
      int HundredThousandths = 0;
      bool Bad = Value.getAsInteger(10, HundredThousandths);
      Kernel.Deviations.push_back(Bad ? NAN : HundredThousandths * 1e-5);
    }
  }
  return All;
}

} // namespace carve
