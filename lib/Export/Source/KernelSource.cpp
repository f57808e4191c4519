#include "Export/Source/KernelSource.h"

#include "Export/Source/CudaTokens.h"
#include "Export/Source/KernelHead.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

enum class ScopeKind { Named, Transparent, Body };

/// A brace that is open.
struct Scope {
  ScopeKind Kind = ScopeKind::Body;
  std::vector<std::string> Names; ///< For ScopeKind::Named.
};

/// Walks through the declarations of a text, scope by scope.
class KernelFinder {
public:
  explicit KernelFinder(const CudaTokens &Source) : Source(Source), Tokens(Source.Tokens) {}
  std::vector<KernelPlace> run();

private:
  struct State {
    std::vector<Scope> Scopes;
    size_t Head = 0;    ///< First token of the declaration that is being read.
    unsigned Depth = 0; ///< Open parentheses and brackets in that declaration.
  };

  void directive(const CudaDirective &D, size_t Index);
  void token(size_t Index);
  void open(size_t Index);
  void declaration(size_t End, bool IsDefinition);
  Scope scopeOf(llvm::ArrayRef<CudaToken> Head) const;
  bool inBody() const { return !Now.Scopes.empty() && Now.Scopes.back().Kind == ScopeKind::Body; }

  const CudaTokens &Source;
  llvm::ArrayRef<CudaToken> Tokens;
  State Now;
  struct Branch {
    State AtIf;
    bool WithinHead; ///< The branches are parts of one declaration.
  };
  std::vector<Branch> Branches;
  size_t SplitBefore = 0; ///< A declaration that begins before this token contains branches.
  std::string File;
  /// Added to a line of the text, it gives the line according to the last marker.
  int64_t LineShift = 0;
  std::vector<KernelPlace> Found;
};

/// Reads `# 12 "x.h" 1` or `#line 12 "x.h"`. Returns false if \p D is neither.
bool readMarker(const CudaDirective &D, std::string &File, int64_t &LineShift) {
  llvm::StringRef Text = D.Name == "line" ? D.Rest : D.Name;
  llvm::StringRef Digits = Text.take_while(llvm::isDigit);
  int64_t Number = 0;
  if (Digits.empty() || Digits.getAsInteger(10, Number))
    return false;
  llvm::StringRef Rest = D.Name == "line" ? D.Rest.drop_front(Digits.size()).trim() : D.Rest;
  if (Rest.consume_front("\""))
    File = Rest.take_until([](char C) { return C == '"'; }).str();
  LineShift = Number - static_cast<int64_t>(D.Line) - 1;
  return true;
}

void KernelFinder::directive(const CudaDirective &D, size_t Index) {
  if (readMarker(D, File, LineShift))
    return;
  if (D.Name == "if" || D.Name == "ifdef" || D.Name == "ifndef") {
    Branches.push_back({Now, Now.Head != Index && !inBody()});
  } else if ((D.Name == "else" || D.Name == "elif" || D.Name == "elifdef" ||
              D.Name == "elifndef") &&
             !Branches.empty()) {
    // Each branch starts from the state before the first one, so that a brace that is opened in
    // several branches counts once.
    const Branch &B = Branches.back();
    Now = B.AtIf;
    if (B.WithinHead)
      SplitBefore = Index;
    else
      Now.Head = Index;
  } else if (D.Name == "endif" && !Branches.empty()) {
    Branches.pop_back();
    if (!inBody() && Now.Head < Index && Now.Depth > 0)
      SplitBefore = Index;
  }
}

/// Returns what the brace after \p Head opens.
Scope KernelFinder::scopeOf(llvm::ArrayRef<CudaToken> Head) const {
  while (!Head.empty() && Head.front().is("inline"))
    Head = Head.drop_front();
  if (Head.size() == 2 && Head[0].is("extern") && Head[1].Kind == CudaTokenKind::Other)
    return {ScopeKind::Transparent, {}};
  if (!Head.empty() && Head.front().is("namespace")) {
    Scope S{ScopeKind::Named, {}};
    for (size_t I = 1; I < Head.size(); ++I) {
      if (Head[I].is("__attribute__")) // Its parentheses follow.
        break;
      if (Head[I].Kind == CudaTokenKind::Word && !Head[I].is("inline"))
        S.Names.push_back(Head[I].Text.str());
    }
    if (S.Names.empty())
      S.Names.push_back("(anonymous namespace)");
    return S;
  }
  if (std::string Name = classOf(Head); !Name.empty())
    return {ScopeKind::Named, {Name}};
  return {ScopeKind::Body, {}};
}

void KernelFinder::declaration(size_t End, bool IsDefinition) {
  llvm::ArrayRef<CudaToken> Head = Tokens.slice(Now.Head, End - Now.Head);
  std::optional<KernelPlace> Place = kernelOf(Head);
  if (!Place)
    return;
  std::vector<std::string> Name;
  for (const Scope &S : Now.Scopes)
    Name.insert(Name.end(), S.Names.begin(), S.Names.end());
  Name.insert(Name.end(), Place->Name.begin(), Place->Name.end());
  Place->Name = std::move(Name);
  Place->IsDefinition = IsDefinition;
  Place->Split |= Now.Head < SplitBefore;
  Place->File = File;
  Place->Line = static_cast<unsigned>(Place->Line + LineShift);
  Found.push_back(std::move(*Place));
}

void KernelFinder::open(size_t Index) {
  Scope New{ScopeKind::Body, {}};
  if (!inBody()) {
    llvm::ArrayRef<CudaToken> Head = Tokens.slice(Now.Head, Index - Now.Head);
    declaration(Index, /*IsDefinition=*/true);
    New = scopeOf(Head);
  }
  Now.Scopes.push_back(std::move(New));
  Now.Head = Index + 1;
}

void KernelFinder::token(size_t Index) {
  const CudaToken &T = Tokens[Index];
  if (T.Kind != CudaTokenKind::Punct)
    return;
  char C = T.Text.front();
  if (!inBody()) {
    // Braces inside parentheses belong to initialisers and lambdas of a declaration.
    if (C == '(' || C == '[')
      ++Now.Depth;
    else if ((C == ')' || C == ']') && Now.Depth > 0)
      --Now.Depth;
    if (Now.Depth > 0)
      return;
  }
  if (C == '{') {
    open(Index);
  } else if (C == '}') {
    if (!Now.Scopes.empty())
      Now.Scopes.pop_back();
    Now.Head = Index + 1;
  } else if (C == ';' && !inBody()) {
    declaration(Index, /*IsDefinition=*/false);
    Now.Head = Index + 1;
  } else if (T.is(":") && !inBody() && Index == Now.Head + 1) {
    const CudaToken &Access = Tokens[Now.Head];
    if (Access.is("public") || Access.is("private") || Access.is("protected"))
      Now.Head = Index + 1;
  }
}

std::vector<KernelPlace> KernelFinder::run() {
  size_t NextDirective = 0;
  for (size_t I = 0; I <= Tokens.size(); ++I) {
    for (; NextDirective < Source.Directives.size() && Source.Directives[NextDirective].Before == I;
         ++NextDirective)
      directive(Source.Directives[NextDirective], I);
    if (I < Tokens.size())
      token(I);
  }
  return std::move(Found);
}

} // namespace

std::vector<KernelPlace> carve::findKernels(llvm::StringRef Text) {
  CudaTokens Tokens = tokenizeCuda(Text);
  return KernelFinder(Tokens).run();
}
