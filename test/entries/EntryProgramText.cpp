#include "EntryProgramText.h"

#include "EntryStatements.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace carve;
using namespace carve::test;

using Random = std::mt19937;
using Statements = std::vector<std::string>;

//===------------------------------------------------------------------------------------------===//
// Bodies
//===------------------------------------------------------------------------------------------===//

namespace {

/// Writes one kernel.
class KernelWriter {
public:
  KernelWriter(const RandomKernel &K, Random &R) : K(K), R(R) {}
  std::string write();

private:
  std::string signature(char Prefix) const;
  std::string head() const;
  std::string named(std::string Statement, size_t Index, const RandomNumber &Number = {}) const;
  Statements sure() const;
  Statements more();

  const RandomKernel &K;
  Random &R;
};

} // namespace

static std::string typeOf(ParameterKind Kind) {
  switch (Kind) {
  case ParameterKind::Output:
    return "unsigned *";
  case ParameterKind::Input:
    return "const unsigned *";
  case ParameterKind::Int:
    return "int ";
  case ParameterKind::Unsigned:
    return "unsigned ";
  case ParameterKind::LongLong:
    return "long long ";
  case ParameterKind::Size:
    return "size_t ";
  case ParameterKind::Bool:
    return "bool ";
  case ParameterKind::Char:
    return "char ";
  case ParameterKind::Short:
    return "short ";
  case ParameterKind::Mode:
    return "Mode ";
  case ParameterKind::Level:
    return "Level ";
  case ParameterKind::Float:
    return "float ";
  case ParameterKind::Double:
    return "double ";
  case ParameterKind::Structure:
    break;
  }
  return "";
}

/// The name of the structure that the parameter \p Index is.
static std::string structureName(const RandomKernel &K, size_t Index) {
  return "Struct_" + K.Name + "_" + std::to_string(Index);
}

static std::string typeOf(const RandomKernel &K, size_t Index) {
  ParameterKind Kind = K.Parameters[Index].Kind;
  return Kind == ParameterKind::Structure ? structureName(K, Index) + " " : typeOf(Kind);
}

/// The definitions of \p K's structures, and what the generator takes their sizes to be.
static std::string structuresText(const RandomKernel &K) {
  std::string Text;
  for (size_t I = 0; I < K.Parameters.size(); ++I) {
    const RandomParameter &P = K.Parameters[I];
    if (P.Kind != ParameterKind::Structure)
      continue;
    Text += "struct " + structureName(K, I) + " {\n";
    for (size_t F = 0; F < P.Fields.size(); ++F)
      Text += "  " + typeOf(P.Fields[F].Kind) + "F" + std::to_string(F) +
              (P.Fields[F].Count ? "[" + std::to_string(P.Fields[F].Count) + "]" : "") + ";\n";
    Text += "};\nstatic_assert(sizeof(" + structureName(K, I) +
            ") == " + std::to_string(bytesOf(P)) + ", \"\");\n";
    for (const RandomNumber &N : numbersOf(P))
      Text += "static_assert(offsetof(" + structureName(K, I) + ", " + N.Access.substr(1) +
              ") == " + std::to_string(N.Offset) + ", \"\");\n";
  }
  return Text;
}

static std::string parameterName(const RandomKernel &K, size_t Index, const std::string &Prefix) {
  switch (K.Parameters[Index].Kind) {
  case ParameterKind::Output:
    return "Out";
  case ParameterKind::Input:
    return "In";
  default:
    return Prefix + std::to_string(Index);
  }
}

static std::string parameterList(const RandomKernel &K, const std::string &Prefix,
                                 bool WithTemplate) {
  std::string Text;
  for (size_t I = 0; I < K.Parameters.size(); ++I) {
    const RandomParameter &P = K.Parameters[I];
    std::string Type = P.Template && WithTemplate ? "T " : typeOf(K, I);
    Text +=
        (I ? ", " : "") + std::string(P.Const ? "const " : "") + Type + parameterName(K, I, Prefix);
  }
  return Text;
}

std::string KernelWriter::signature(char Prefix) const {
  std::string Bound =
      K.Bound ? " __launch_bounds__(" + std::to_string(K.Bound) + ")" : std::string();
  std::string Text = "__global__ void" + Bound + " " + K.Name + "(" +
                     parameterList(K, std::string(1, Prefix), true) + ")";
  switch (K.Form) {
  case KernelForm::Static:
    return "static " + Text;
  case KernelForm::Extern:
    return "extern \"C\" " + Text;
  case KernelForm::Template:
    return "template <class T, int N> " + Text;
  default:
    return Text;
  }
}

std::string KernelWriter::head() const {
  std::string Text;
  if (K.StaticWords)
    Text += "  __shared__ unsigned Static[" + std::to_string(K.StaticWords) + "];\n";
  for (size_t I = 1; I < K.Parameters.size(); ++I)
    for (const RandomNumber &N : numbersOf(K.Parameters[I]))
      if (N.Kind == ParameterKind::Input && !N.Access.empty())
        Text += "  const unsigned *In = " + parameterName(K, I, "A") + N.Access + ";\n";
  return Text + "  unsigned Lane = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * "
                "threadIdx.z);\n"
                "  unsigned Lanes = blockDim.x * blockDim.y * blockDim.z;\n"
                "  unsigned Id = (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) "
                "* Lanes + Lane;\n"
                "  unsigned H = mixed(mixed(Id, blockDim.x * 2048u + blockDim.y), gridDim.x * "
                "2048u + gridDim.y);\n"
                "  H = mixed(H, blockDim.z * 4096u + gridDim.z);\n"
                "  float X = __fmul_rn((float)(Lane & 15u), 0.5f);\n"
                "  double D = (double)(Id & 31u);\n";
}

/// Puts the part \p Number of the parameter \p Index into \p Statement.
std::string KernelWriter::named(std::string Statement, size_t Index,
                                const RandomNumber &Number) const {
  std::string Name = parameterName(K, Index, "A") + Number.Access, Text;
  uint64_t Own = 64;
  for (const FurtherEntry &E : K.Entries)
    for (const ArgumentValue &V : E.When.Arguments)
      if (V.Parameter == Index && V.Offset == Number.Offset)
        Own = V.Bits;
  for (char C : Statement) {
    if (C == '$')
      Text += Name;
    else if (C == '@')
      Text += std::to_string(Own) + "ull";
    else
      Text += C;
  }
  return Text;
}

Statements KernelWriter::sure() const {
  Statements All;
  for (size_t I = 1; I < K.Parameters.size(); ++I)
    for (const RandomNumber &N : numbersOf(K.Parameters[I]))
      if (N.Kind != ParameterKind::Input)
        All.push_back(named(mixing(N.Kind), I, N));
  if (K.input() && !K.ReadsOwn)
    All.push_back("H = mixed(H, In[Id % InWords]);");
  if (K.Form == KernelForm::Template)
    All.push_back("H = mixed(H, (unsigned)N);");
  return All;
}

Statements KernelWriter::more() {
  const bool ReadsInput = K.input() && !K.ReadsOwn;
  Statements All;
  for (size_t I = 1; I < K.Parameters.size(); ++I) {
    const RandomParameter &P = K.Parameters[I];
    if (P.Role == ParameterRole::Words)
      All.push_back(named(WordsStatement, I));
    Statements Possible = statementsFor(P, ReadsInput);
    for (unsigned N = Possible.empty() ? 0 : 1 + R() % 2; N > 0; --N)
      All.push_back(named(oneOf(R, Possible), I));
    if (K.StaticWords && isInteger(P.Kind) && chance(R, 40))
      All.push_back(named(StaticStatement, I));
  }
  if (K.StaticWords)
    All.push_back("Static[Lane] = H;\n  __syncthreads();\n"
                  "  H ^= Static[(Lane * 5u + 1u) % Lanes];\n  __syncthreads();");
  if (K.Pressure)
    All.push_back("H = pressed<" + std::to_string(K.Pressure) + ">(H);");
  if (K.Form == KernelForm::Template)
    All.push_back("for (int J = N; J < 4; ++J)\n    H = mixed(H, J);");
  if (chance(R, 25))
    All.push_back("H += (unsigned)__syncthreads_count(H & 1u);");
  if (chance(R, 20))
    All.push_back("H = stirred(H, Lane);");
  return All;
}

std::string KernelWriter::write() {
  std::string Text = signature('A') + " {\n" + head();
  Statements First = sure(), Second = more();
  std::shuffle(First.begin(), First.end(), R);
  std::shuffle(Second.begin(), Second.end(), R);
  First.insert(First.end(), Second.begin(), Second.end());
  First.push_back("H = mixed(mixed(H, bitsOf(X)), bitsOf(D));");
  // Before a barrier, it would be an exchange through memory, and no code with restrict pointers.
  if (K.ReadsOwn)
    First.push_back(OwnInputStatement);
  First.push_back(chance(R, 50) ? "if (Id < OutWords)\n    Out[Id] = H;"
                                : "if (Id < OutWords)\n    Out[Id] ^= H;");
  for (const std::string &Statement : First)
    Text += "  " + Statement + "\n";
  Text += "}\n";
  if (chance(R, 30)) // A declaration comes first, and names its parameters in another way.
    Text = signature('B') + ";\n" + Text;
  Text = structuresText(K) + Text;
  if (K.Form == KernelForm::Anonymous)
    return "namespace {\n" + Text + "} // namespace\n";
  if (K.Form == KernelForm::Named)
    return "namespace outer {\n" + Text + "} // namespace outer\n";
  return Text;
}

std::string carve::test::kernelText(const RandomKernel &K, Random &R) {
  return KernelWriter(K, R).write();
}

//===------------------------------------------------------------------------------------------===//
// Programs
//===------------------------------------------------------------------------------------------===//

static std::string calledName(const RandomKernel &K) {
  return (K.Form == KernelForm::Named ? "outer::" : "") + K.Name + K.Arguments;
}

/// The structures of kernels in a namespace are in it, too.
static std::string calledType(const RandomKernel &K, size_t Index) {
  bool Named = K.Form == KernelForm::Named && K.Parameters[Index].Kind == ParameterKind::Structure;
  return (Named ? "outer::" : "") + llvm::StringRef(typeOf(K, Index)).rtrim().str();
}

static std::string joined(const std::vector<std::string> &Parts) { return llvm::join(Parts, ", "); }

/// The function with `<<<>>>`, and what the launches of EntryProgram.cuh need to know.
static std::string launcherText(const RandomKernel &K, size_t Index) {
  std::string Number = std::to_string(Index);
  std::vector<std::string> Given, Parameters;
  const std::optional<PointerPlace> Input = K.input();
  for (size_t I = 0; I < K.Parameters.size(); ++I) {
    const bool HasInput = Input && Input->Parameter == I;
    Given.push_back("argument<" + calledType(K, I) + ">(A[" + std::to_string(I) + "])");
    Parameters.push_back(std::string(I == 0     ? "{Place::Output, "
                                     : HasInput ? "{Place::Input, "
                                                : "{Place::Value, ") +
                         std::to_string(bytesOf(K.Parameters[I])) + ", " +
                         std::to_string(HasInput ? Input->Offset : 0) + "}");
  }
  return "static void chevrons" + Number + "(const Shape &S, void **A) {\n  " + calledName(K) +
         "<<<S.Grid, S.Block, S.Smem, S.Stream>>>(" + joined(Given) +
         ");\n}\nstatic const Parameter Parameters" + Number + "[] = {" + joined(Parameters) +
         "};\nstatic const Kernel Kernel" + Number + "{\"" + K.Name + K.MangledArguments +
         "\", reinterpret_cast<const void *>(" + calledName(K) + "), chevrons" + Number + ", " +
         (K.Bound ? "true" : "false") + ", Parameters" + Number + ", " +
         std::to_string(K.Parameters.size()) + "};\n";
}

namespace {
/// Writes the steps of a program as numbers, and the arguments of all its launches as bytes. Both
/// are string literals, because compilers take many seconds for tables of this length.
class StepWriter {
public:
  std::string write(const RandomProgram &P);

private:
  void number(uint64_t Value) { Numbers += std::to_string(Value) + " "; }
  void launch(const RandomKernel &K, const RandomLaunch &L);
  void step(const RandomProgram &P, const ProgramStep &S);

  std::string Numbers;
  std::vector<uint8_t> Bytes;
};
} // namespace

/// Returns \p Bytes as a string literal.
static std::string literal(const std::vector<uint8_t> &Bytes) {
  std::string Text;
  for (size_t I = 0; I < Bytes.size(); ++I) {
    if (I % 64 == 0)
      Text += I ? "\"\n    \"" : "\n    \"";
    Text += "\\";
    for (unsigned Shift : {6, 3, 0})
      Text += std::to_string(Bytes[I] >> Shift & 7);
  }
  return Text.empty() ? "\"\"" : Text + "\"";
}

void StepWriter::launch(const RandomKernel &K, const RandomLaunch &L) {
  for (const Dimensions &D : {L.Grid, L.Block})
    for (unsigned Size : D)
      number(Size);
  number(L.SmemBytes);
  number(Bytes.size());
  for (const std::vector<uint8_t> &Argument : argumentsOf(K, L))
    llvm::append_range(Bytes, Argument);
}

void StepWriter::step(const RandomProgram &P, const ProgramStep &S) {
  for (uint64_t Value : {uint64_t(S.Does), uint64_t(S.Kernel), uint64_t(S.Way), uint64_t(S.Number)})
    number(Value);
  unsigned Launches = S.Does == ProgramStep::Launch ? 2 : S.Does == ProgramStep::Occupancy;
  number(Launches);
  for (unsigned I = 0; I < Launches; ++I)
    launch(P.Kernels[S.Kernel], S.Launches[I]);
}

std::string StepWriter::write(const RandomProgram &P) {
  std::string Text = "static const char Steps[] =";
  for (const ProgramStep &S : P.Steps) {
    Numbers.clear();
    step(P, S);
    Text += "\n    \"" + Numbers + "\"";
  }
  return Text + ";\nstatic const char Bytes[] =" + literal(Bytes) + ";\n";
}

std::string carve::test::programText(const RandomProgram &P) {
  Random R(P.Seed);
  std::string Text = "// The random program " + std::to_string(P.Seed) +
                     " of EntryPrograms.h.\n#include \"EntryProgram.cuh\"\n";
  for (const RandomKernel &K : P.Kernels)
    if (!K.SameText)
      Text += "\n" + kernelText(K, R);
  for (size_t I = 0; I < P.Kernels.size(); ++I)
    Text += "\n" + launcherText(P.Kernels[I], I);
  Text += "\nstatic const Kernel *const Kernels[] = {";
  for (size_t I = 0; I < P.Kernels.size(); ++I)
    Text += "&Kernel" + std::to_string(I) + ", ";
  return Text + "};\n" + StepWriter().write(P) +
         "\n#ifdef LIBRARY\nextern \"C\" int runProgram() {\n#else\nint main() {\n#endif\n"
         "  return runSteps(Steps, Bytes, Kernels);\n}\n";
}
