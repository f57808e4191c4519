// The file has lines of tab-separated fields:
//   carve-samples 1
//   probe <a line of the traced process's record>
//   timing-run <number of the timing run that the next lines belong to>
//   timing <a line of the timing run's record>
//   sample <subject> <variant> <GPU time, ns>
//   program <GPU time of everything else, ns> <wall time, s>

#include "Tune/WholeRuns/SampleRecord.h"

#include "Support/Error.h"
#include "Tune/InRun/ProbePlan.h"
#include "Tune/WholeRuns/WorkloadSampler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace carve;

std::string SampleRecord::print() const {
  std::string Text = "carve-samples\t1\n";
  llvm::raw_string_ostream OS(Text);
  auto PrintLines = [&](const char *Tag, llvm::StringRef Record) {
    llvm::SmallVector<llvm::StringRef, 0> Lines;
    Record.split(Lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef Line : Lines)
      OS << Tag << '\t' << Line << "\n";
  };
  PrintLines("probe", Trace.Text);
  for (size_t I = 0; I < Timings.size(); ++I) {
    OS << "timing-run\t" << I + 1 << "\n";
    PrintLines("timing", Timings[I].Text);
  }
  for (const auto &[Subject, Variants] : Samples)
    for (const auto &[Variant, Values] : Variants)
      for (double Ns : Values)
        OS << "sample\t" << Subject << "\t" << Variant << "\t" << llvm::format("%.0f", Ns) << "\n";
  for (size_t I = 0; I < Other.size(); ++I)
    OS << "program\t" << llvm::format("%.0f\t%.6f", Other[I], Wall[I]) << "\n";
  return Text;
}

/// \p Line for a message: its first characters, and dots for bytes that are neither printable ASCII
/// nor tabs.
static std::string shownLine(llvm::StringRef Line) {
  constexpr size_t Most = 60;
  std::string Shown = Line.take_front(Most).str();
  for (char &C : Shown)
    if (!llvm::isPrint(C) && C != '\t')
      C = '.';
  return Shown + (Line.size() > Most ? "..." : "");
}

void SampleRecord::Recorded::take(llvm::StringRef Line, unsigned Number) {
  Text += (Line + "\n").str();
  Lines.push_back(Number);
}

/// The error \p E about a line of the record, which names it `NAME:LINE: ...`, with the line of the
/// samples file.
llvm::Error SampleRecord::Recorded::inFile(llvm::Error E, llvm::StringRef Name) const {
  std::string Message = llvm::toString(std::move(E));
  llvm::StringRef Rest = Message;
  unsigned Line = 0;
  if (!Rest.consume_front(Name) || !Rest.consume_front(":") || Rest.consumeInteger(10, Line) ||
      Line == 0 || Line > Lines.size())
    return malformed(Message);
  return malformed(Name + ":" + llvm::Twine(Lines[Line - 1]) + Rest);
}

llvm::Expected<SampleRecord> SampleRecord::parse(llvm::StringRef Text, llvm::StringRef Name) {
  SampleRecord Record;
  unsigned Number = 0;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    llvm::SmallVector<llvm::StringRef, 4> F;
    Line.split(F, '\t');
    double A = 0, B = 0;
    unsigned Run = 0;
    if (++Number == 1 && Line == "carve-samples\t1")
      continue;
    if (Number > 1 && F[0] == "probe")
      Record.Trace.take(Line.drop_front(6), Number);
    else if (Number > 1 && F[0] == "timing-run" && F.size() == 2 && !F[1].getAsInteger(10, Run) &&
             Run == Record.Timings.size() + 1)
      Record.Timings.emplace_back();
    else if (Number > 1 && F[0] == "timing") {
      if (Record.Timings.empty()) // A file with only one timing run may lack its number.
        Record.Timings.emplace_back();
      Record.Timings.back().take(Line.drop_front(7), Number);
    } else if (Number > 1 && F[0] == "sample" && F.size() == 4 && !F[3].getAsDouble(A))
      Record.add(F[1].str(), F[2].str(), A);
    else if (Number > 1 && F[0] == "program" && F.size() == 3 && !F[1].getAsDouble(A) &&
             !F[2].getAsDouble(B))
      Record.addProgram(A, B);
    else
      return malformed(Name + ":" + llvm::Twine(Number) + ": expected " +
                       (Number == 1 ? "'carve-samples', a tab and '1'"
                                    : "a probe, timing, sample or program line") +
                       ", not '" + shownLine(Line) + "'");
  }
  if (Number == 0)
    return malformed(Name + ": is empty, expected recorded samples");
  return Record;
}

llvm::Expected<ProbeRecord> SampleRecord::trace(llvm::StringRef Name) const {
  ProbeRecord Record;
  if (llvm::Error E = readProbeFile(Trace.Text, Name, Record))
    return Trace.inFile(std::move(E), Name);
  return Record;
}

llvm::Expected<InRunRecord> SampleRecord::timing(size_t Run, const TuningJob &Job,
                                                 const JobBuild &Built,
                                                 llvm::StringRef Name) const {
  llvm::Expected<InRunRecord> Record = readInRun(Timings[Run].Text, Name);
  if (!Record)
    return Timings[Run].inFile(Record.takeError(), Name);
  keepPlanned(*Record, Job, Built);
  return Record;
}

bool SampleRecord::has(const std::string &Subject, const std::string &Variant) const {
  auto Variants = Samples.find(Subject);
  return Variants != Samples.end() && Variants->second.count(Variant) > 0;
}

llvm::Expected<RunSample>
SampleRecord::run(const std::vector<SubjectSpace> &Subjects,
                  const std::vector<std::vector<std::string>> &VariantNames, const Assignment &A) {
  RunSample Sample;
  for (size_t S = 0; S < Subjects.size(); ++S) {
    const std::string &Subject = Subjects[S].Name;
    std::string Variant = A.empty() ? "untouched" : VariantNames[S][A[S]];
    const std::vector<double> &Values = Samples[Subject][Variant];
    if (Values.empty())
      return malformed("the recorded samples lack variant " + Variant + " of " + Subject);
    Sample.SubjectNs.push_back(Values[Next[{Subject, Variant}]++ % Values.size()]);
  }
  double Known = std::accumulate(Sample.SubjectNs.begin(), Sample.SubjectNs.end(), 0.0);
  Sample.ProgramNs = Known + (Other.empty() ? 0 : Other[NextProgram % Other.size()]);
  Sample.WallS = Wall.empty() ? 1 : Wall[NextProgram % Wall.size()];
  ++NextProgram;
  return Sample;
}

llvm::Expected<SampleRecord> SampleRecord::read(const std::string &Path) {
  llvm::Expected<std::string> Text = readFile(Path, FileLimit::Record);
  return Text ? parse(*Text, Path) : Text.takeError();
}
