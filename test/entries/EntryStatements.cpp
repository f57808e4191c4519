#include "EntryStatements.h"

using namespace carve::test;

using Statements = std::vector<std::string>;

const char *const carve::test::WordsStatement =
    "for (unsigned J = Lane; J < (unsigned)$; J += Lanes)\n    Dynamic[J] = H + J;\n"
    "  __syncthreads();\n"
    "  for (unsigned J = Lane; J < (unsigned)$; J += Lanes * 3u)\n"
    "    H = mixed(H, Dynamic[(unsigned)$ - 1u - J]);\n"
    "  __syncthreads();";

const char *const carve::test::StaticStatement =
    "Static[Lane] = H;\n  __syncthreads();\n  H ^= Static[(Lane + (unsigned)$) % Lanes];\n"
    "  __syncthreads();";

const char *const carve::test::OwnInputStatement =
    "if (Id < InWords) {\n    Out[Id] = H;\n    H = mixed(H, In[Id]);\n    Out[Id] = H;\n  }";

static Statements anyStatements(const RandomParameter &P) {
  Statements All = {
      "if ($ == (decltype($))@)\n    H += 77u;\n  else\n    H ^= Id;",
      "if ((unsigned long long)$ > Id)\n    H = mixed(H, Id);",
      "H = (H << ((unsigned)$ & 15)) ^ (H >> 9);",
      "H += Table[$ & 15];",
      "switch ((int)$) {\n  case 0:\n    H += 3u;\n    break;\n  case 1:\n    H ^= Id;\n    "
      "break;\n"
      "  case -1:\n    H *= 5u;\n    break;\n  default:\n    H = mixed(H, 9u);\n  }",
      "{\n    unsigned Few[8];\n    for (unsigned J = 0; J < 8; ++J)\n      Few[J] = H * (J + "
      "1u);\n"
      "    H ^= Few[$ & 7];\n  }",
      "{\n    unsigned $ = H & 7u;\n    H += $ * 3u;\n  }",
      "{\n    auto Add = [=](unsigned V) { return V * 3u + (unsigned)$; };\n    H = Add(H);\n  }",
      "X = __fadd_rn(X, __fmul_rn((float)$, 0.25f));",
      "if ((Lane + (unsigned)$) % 3u == 0u)\n    H += 5u;",
      "H = mixed(H, Salt + (unsigned)$);",
  };
  // The words of shared memory stay what they are, or threads would write beside it.
  if (P.Const || P.Role == ParameterRole::Words)
    return All;
  All.push_back("$ = (decltype($))($ ^ 5);\n  H = mixed(H, $);");
  All.push_back("{\n    auto *Place = &$;\n    *Place ^= 1;\n    H = mixed(H, *Place);\n  }");
  return All;
}

static Statements countStatements(const RandomParameter &P, bool ReadsInput) {
  Statements All = {
      "for (int J = 0; J < (int)$; ++J)\n    H = mixed(H, J + threadIdx.x);",
      "for (decltype($ + 0) J = 0; J < $; ++J)\n    H = H * 33u + (unsigned)J;",
      "#pragma unroll 4\n  for (int J = 0; J < (int)$; ++J)\n    H ^= (H << 5) + Table[J & 15];",
      "#pragma unroll 1\n  for (auto J = $; J > 0; --J)\n    H = mixed(H, J);",
      "for (int J = 0; J < (int)$; ++J)\n    X = __fadd_rn(__fmul_rn(X, 0.5f), (float)(H & 7u));",
      "for (int J = 0; J < (int)$; ++J)\n    for (int K = 0; K < J; ++K)\n      H += K ^ H >> J % "
      "7;",
      "D = __dadd_rn(D, __dmul_rn((double)$, 0.75));",
  };
  if (ReadsInput)
    All.push_back("for (int J = 0; J < (int)$; ++J)\n    H += In[(Id + J * 17u) % InWords];");
  if (!P.Const)
    All.push_back("while ($ > 0) {\n    --$;\n    H = mixed(H, H >> 3);\n  }");
  return All;
}

static Statements divisorStatements() {
  return {
      "H ^= (unsigned)((int)(H >> 1) / $);",
      "H += (unsigned)((int)(Id + 1u) % $);",
      "H = mixed(H, (unsigned long long)((long long)H * 3 / $));",
      "X = __fadd_rn(X, __fdiv_rn((float)(H & 1023u), (float)$));",
      "if ((int)(Lane + 2u) % $ == 0)\n    H += 19u;",
  };
}

static Statements enumerationStatements(ParameterKind Kind) {
  bool IsMode = Kind == ParameterKind::Mode;
  const char *First = IsMode ? "Mode::Add" : "Low", *Second = IsMode ? "Mode::Turn" : "High",
             *Third = IsMode ? "Mode::Skip" : "Middle";
  return {
      "switch ($) {\n  case " + std::string(First) + ":\n    H += Id;\n    break;\n  case " +
          Second + ":\n    H = mixed(H, 4u);\n    break;\n  case " + Third +
          ":\n    break;\n  default:\n    H ^= 21u;\n  }",
      "if ($ == " + std::string(Second) + ")\n    X = __fmul_rn(X, 1.5f);",
      "for (int J = (int)$; J < 4; ++J)\n    H = mixed(H, J);",
  };
}

static Statements floatStatements(bool IsDouble) {
  if (IsDouble)
    return {"D = __dadd_rn(D, $);", "D = __dmul_rn($, D);", "if ($ == 0.0)\n    H += 3u;",
            "X = __fadd_rn(X, (float)$);"};
  return {"X = __fadd_rn(X, $);",      "X = __fmul_rn($, X);",
          "X = __fdiv_rn(X, $);",      "H += __float_as_uint($) >> 31;",
          "if ($ != $)\n    H ^= 1u;", "if ($ > 0.25f)\n    H += Lane;"};
}

/// A copy of the structure and an array that is read at a place that is not known have addresses,
/// so that not every read of a field is a load of its own.
static Statements structureStatements(const RandomParameter &P, bool ReadsInput) {
  Statements All = {"{\n    auto Copy = $;\n    auto *Place = &Copy;\n    H = mixed(H, (unsigned "
                    "long long)(Place->F0" +
                    std::string(P.Fields[0].Count ? "[H & 1u]" : "") + " > 0));\n  }"};
  for (size_t I = 0; I < P.Fields.size(); ++I) {
    const RandomField &F = P.Fields[I];
    std::string Name = "$.F" + std::to_string(I) + (F.Count ? "[0]" : "");
    Statements OfField;
    if (F.Kind == ParameterKind::Input)
      OfField = ReadsInput ? Statements{"H ^= $[Id % InWords];"} : Statements();
    else if (isFloat(F.Kind))
      OfField = floatStatements(F.Kind == ParameterKind::Double);
    else
      OfField = {"if ($)\n    H += 77u;\n  else\n    H ^= Id;",
                 "H = (H << ((unsigned)$ & 15)) ^ (H >> 9);", "H += Table[(unsigned)$ & 15];",
                 "for (unsigned J = 0; J < ((unsigned)$ & 31u); ++J)\n    H = mixed(H, J);",
                 "if ((Lane + (unsigned)$) % 3u == 0u)\n    H += 5u;"};
    for (std::string Text : OfField) {
      for (size_t At = 0; (At = Text.find('$', At)) != std::string::npos; At += Name.size())
        Text.replace(At, 1, Name);
      All.push_back(std::move(Text));
    }
    if (F.Count && isInteger(F.Kind))
      All.push_back("H += (unsigned)$.F" + std::to_string(I) + "[H % " + std::to_string(F.Count) +
                    "u];");
  }
  return All;
}

Statements carve::test::statementsFor(const RandomParameter &P, bool ReadsInput) {
  switch (P.Kind) {
  case ParameterKind::Output:
    return {};
  case ParameterKind::Input:
    return ReadsInput ? Statements{"H ^= $[Id % InWords];", "H += $[(H & 63u) + Lane];"}
                      : Statements();
  case ParameterKind::Bool:
    return {"if ($)\n    H = mixed(H, 11u);\n  else\n    H += Id;", "H = $ ? H * 3u : H + 1u;",
            "H += (unsigned)$ << 4;", "if (!$ && Lane % 2u)\n    X = __fadd_rn(X, 1.0f);"};
  case ParameterKind::Mode:
  case ParameterKind::Level:
    return enumerationStatements(P.Kind);
  case ParameterKind::Float:
  case ParameterKind::Double:
    return floatStatements(P.Kind == ParameterKind::Double);
  case ParameterKind::Structure:
    return structureStatements(P, ReadsInput);
  default:
    break;
  }
  switch (P.Role) {
  case ParameterRole::Count:
    return countStatements(P, ReadsInput);
  case ParameterRole::Divisor:
    return divisorStatements();
  default:
    return anyStatements(P);
  }
}

std::string carve::test::mixing(ParameterKind Kind) {
  switch (Kind) {
  case ParameterKind::Output:
  case ParameterKind::Input:
    return "";
  case ParameterKind::Mode:
  case ParameterKind::Level:
    return "H = mixed(H, (unsigned)$);";
  case ParameterKind::Float:
    return "H = mixed(H, __float_as_uint($));";
  case ParameterKind::Double:
    return "H = mixed(H, (unsigned long long)__double_as_longlong($));";
  default:
    return "H = mixed(H, (unsigned long long)$);";
  }
}
