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
  std::string named(std::string Statement, size_t Index) const;
  Statements sure() const;
  Statements more();

  const RandomKernel &K;
  Random &R;
};

} // namespace

static std::string typeOf(const RandomParameter &P) {
  switch (P.Kind) {
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
  case ParameterKind::Pair:
    return "Pair ";
  }
  return "";
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
    std::string Type = P.Template && WithTemplate ? "T " : typeOf(P);
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

/// Puts the parameter \p Index into \p Statement.
std::string KernelWriter::named(std::string Statement, size_t Index) const {
  std::string Name = parameterName(K, Index, "A"), Text;
  std::vector<uint64_t> Own = {0, 1, 7, 64};
  for (const FurtherEntry &E : K.Entries)
    if (const ArgumentValue *V = argumentOf(E.When, Index))
      Own.push_back(V->Bits);
  for (char C : Statement) {
    if (C == '$')
      Text += Name;
    else if (C == '@')
      Text += std::to_string(Own.back()) + "ull";
    else
      Text += C;
  }
  return Text;
}

Statements KernelWriter::sure() const {
  Statements All;
  for (size_t I = 1; I < K.Parameters.size(); ++I)
    All.push_back(named(mixing(K.Parameters[I].Kind), I));
  if (K.Form == KernelForm::Template)
    All.push_back("H = mixed(H, (unsigned)N);");
  return All;
}

Statements KernelWriter::more() {
  bool HasInput = llvm::any_of(
      K.Parameters, [](const RandomParameter &P) { return P.Kind == ParameterKind::Input; });
  Statements All;
  for (size_t I = 1; I < K.Parameters.size(); ++I) {
    const RandomParameter &P = K.Parameters[I];
    if (P.Role == ParameterRole::Words)
      All.push_back(named(WordsStatement, I));
    for (unsigned N = 1 + R() % 2; N > 0; --N)
      All.push_back(named(oneOf(R, statementsFor(P, HasInput)), I));
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
  First.push_back(chance(R, 50) ? "if (Id < OutWords)\n    Out[Id] = H;"
                                : "if (Id < OutWords)\n    Out[Id] ^= H;");
  for (const std::string &Statement : First)
    Text += "  " + Statement + "\n";
  Text += "}\n";
  if (chance(R, 30)) // A declaration comes first, and names its parameters in another way.
    Text = signature('B') + ";\n" + Text;
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

/// Returns an expression with the value \p Bits.
static std::string valueText(ParameterKind Kind, uint64_t Bits) {
  std::string Number = std::to_string(Bits) + "ull";
  switch (Kind) {
  case ParameterKind::Output:
  case ParameterKind::Input:
    return "nullptr";
  case ParameterKind::Float:
    return "floatOf(" + Number + ")";
  case ParameterKind::Double:
    return "doubleOf(" + Number + ")";
  case ParameterKind::Pair:
    return "pairOf(" + Number + ")";
  default:
    return "(" + llvm::StringRef(typeOf({Kind})).rtrim().str() + ")" + Number;
  }
}

static std::string calledName(const RandomKernel &K) {
  return (K.Form == KernelForm::Named ? "outer::" : "") + K.Name + K.Arguments;
}

/// The function with `<<<>>>`, and what the launches of EntryProgram.cuh need to know.
static std::string launcherText(const RandomKernel &K, size_t Index) {
  std::string Number = std::to_string(Index), Given;
  for (size_t I = 0; I < K.Parameters.size(); ++I)
    Given += (I ? ", " : "") + parameterName(K, I, "A");
  return "static void chevrons" + Number + "(const Shape &S, " + parameterList(K, "A", false) +
         ") {\n  " + calledName(K) + "<<<S.Grid, S.Block, S.Smem, S.Stream>>>(" + Given +
         ");\n}\nstatic const Kernel Kernel" + Number + "{\"" + K.Name + K.MangledArguments +
         "\", " + calledName(K) + ", chevrons" + Number + ", " + (K.Bound ? "true" : "false") +
         "};\n";
}

static std::string launchText(const RandomKernel &K, const RandomLaunch &L) {
  auto Dim = [](const Dimensions &D) {
    return "dim3(" + std::to_string(D[0]) + ", " + std::to_string(D[1]) + ", " +
           std::to_string(D[2]) + ")";
  };
  std::string Values;
  for (size_t I = 0; I < K.Parameters.size(); ++I)
    Values += (I ? ", " : "") + valueText(K.Parameters[I].Kind, L.Values[I]);
  return "{" + Dim(L.Grid) + ", " + Dim(L.Block) + ", " + std::to_string(L.SmemBytes) + "}, {" +
         Values + "}";
}

static std::string stepText(const RandomProgram &P, size_t Index) {
  static const char *const Ways[] = {"Chevrons", "OwnStream", "PerThread",   "Meanwhile", "Threads",
                                     "Pointer",  "Extended",  "Cooperative", "Captured",  "Node"};
  const ProgramStep &S = P.Steps[Index];
  const RandomKernel &K = P.Kernels[S.Kernel];
  std::string Name = "Kernel" + std::to_string(S.Kernel);
  switch (S.Does) {
  case ProgramStep::Launch:
    return "launches(" + std::to_string(Index) + ", " + Name + ", Way::" + Ways[size_t(S.Way)] +
           ", " + launchText(K, S.Launches[0]) + ",\n           " + launchText(K, S.Launches[1]) +
           ");";
  case ProgramStep::Attributes:
    return "attributes(" + Name + ");";
  case ProgramStep::Occupancy: {
    const RandomLaunch &L = S.Launches[0];
    return "occupancy(" + Name + ", " + std::to_string(L.Block[0] * L.Block[1] * L.Block[2]) +
           ", " + std::to_string(L.SmemBytes) + ");";
  }
  case ProgramStep::Permit:
    return "permitSmem(" + Name + ");";
  case ProgramStep::Salt:
    return "setSalt(" + std::to_string(S.Number) + "u);";
  case ProgramStep::Reset:
    return "resetDevice();";
  }
  return "";
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
  Text += "\nint main() {\n  setUp();\n";
  for (size_t I = 0; I < P.Steps.size(); ++I)
    Text += "  " + stepText(P, I) + "\n";
  return Text + "  return finish();\n}\n";
}
