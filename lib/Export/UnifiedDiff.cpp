#include "Export/UnifiedDiff.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

constexpr size_t Context = 3;

/// Lines [OldBegin, OldEnd) of the text are replaced by New.
struct Change {
  size_t OldBegin, OldEnd;
  std::vector<llvm::StringRef> New;
  std::string Text; ///< Owns the text that New points into.
};

/// Splits \p Text into lines, with their line ends.
std::vector<llvm::StringRef> linesOf(llvm::StringRef Text) {
  std::vector<llvm::StringRef> Lines;
  while (!Text.empty()) {
    size_t End = Text.find('\n');
    Lines.push_back(Text.take_front(End == llvm::StringRef::npos ? Text.size() : End + 1));
    Text = Text.drop_front(Lines.back().size());
  }
  return Lines;
}

void sortEdits(std::vector<SourceEdit> &Edits) {
  llvm::stable_sort(Edits,
                    [](const SourceEdit &A, const SourceEdit &B) { return A.Offset < B.Offset; });
}

/// Returns the index of the line that contains \p Offset.
size_t lineOf(llvm::ArrayRef<llvm::StringRef> Lines, llvm::StringRef Text, size_t Offset) {
  const char *Place = Text.begin() + Offset;
  auto Behind =
      llvm::partition_point(Lines, [&](llvm::StringRef Line) { return Line.end() <= Place; });
  return std::min<size_t>(Behind - Lines.begin(), Lines.empty() ? 0 : Lines.size() - 1);
}

/// Merges edits that touch the same lines into one change.
std::vector<Change> changesOf(llvm::StringRef Text, llvm::ArrayRef<llvm::StringRef> Lines,
                              llvm::ArrayRef<SourceEdit> Edits) {
  std::vector<Change> Changes;
  for (size_t I = 0; I < Edits.size();) {
    size_t Begin = lineOf(Lines, Text, Edits[I].Offset), End = Begin, First = I;
    for (; I < Edits.size() && lineOf(Lines, Text, Edits[I].Offset) <= End; ++I)
      End = std::max(End, lineOf(Lines, Text, Edits[I].Offset + Edits[I].Remove));
    size_t Base = Lines[Begin].begin() - Text.begin();
    std::vector<SourceEdit> Own(Edits.begin() + First, Edits.begin() + I);
    for (SourceEdit &E : Own)
      E.Offset -= Base;
    llvm::StringRef Old(Lines[Begin].begin(), Lines[End].end() - Lines[Begin].begin());
    Changes.push_back({Begin, End + 1, {}, applyEdits(Old, std::move(Own))});
  }
  for (Change &C : Changes)
    C.New = linesOf(C.Text);
  return Changes;
}

void printLine(char Sign, llvm::StringRef Line, llvm::raw_ostream &OS) {
  OS << Sign << Line;
  if (!Line.ends_with("\n"))
    OS << "\n\\ No newline at end of file\n";
}

/// Returns a range such as `-12,7` has after its sign. An empty range names the line before it.
std::string rangeText(size_t Begin, size_t Count) {
  return std::to_string(Count ? Begin + 1 : Begin) + "," + std::to_string(Count);
}

/// Prints one hunk of changes that are near each other. \p Shift is how many more lines were added
/// than removed in earlier hunks.
void printHunk(llvm::ArrayRef<Change> Changes, llvm::ArrayRef<llvm::StringRef> Lines, size_t Shift,
               llvm::raw_ostream &OS) {
  size_t Begin = Changes.front().OldBegin < Context ? 0 : Changes.front().OldBegin - Context;
  size_t End = std::min(Changes.back().OldEnd + Context, Lines.size());
  size_t NewCount = End - Begin;
  for (const Change &C : Changes)
    NewCount += C.New.size() - (C.OldEnd - C.OldBegin);
  OS << "@@ -" << rangeText(Begin, End - Begin) << " +" << rangeText(Begin + Shift, NewCount)
     << " @@\n";
  size_t Here = Begin;
  for (const Change &C : Changes) {
    for (; Here < C.OldBegin; ++Here)
      printLine(' ', Lines[Here], OS);
    for (; Here < C.OldEnd; ++Here)
      printLine('-', Lines[Here], OS);
    for (llvm::StringRef Line : C.New)
      printLine('+', Line, OS);
  }
  for (; Here < End; ++Here)
    printLine(' ', Lines[Here], OS);
}

/// Returns a path as git writes it in a patch. It is quoted if it has bytes that a line cannot
/// hold.
std::string quotedPath(llvm::StringRef Prefix, llvm::StringRef Path) {
  bool Plain = llvm::all_of(Path, [](char C) { return llvm::isPrint(C) && C != '"' && C != '\\'; });
  if (Plain)
    return (Prefix + Path).str();
  std::string Text = "\"" + Prefix.str();
  for (unsigned char C : Path)
    if (C == '"' || C == '\\')
      Text += std::string("\\") + static_cast<char>(C);
    else if (C < 0x20 || C >= 0x7f)
      Text += {'\\', static_cast<char>('0' + (C >> 6)), static_cast<char>('0' + (C >> 3 & 7)),
               static_cast<char>('0' + (C & 7))};
    else
      Text += static_cast<char>(C);
  return Text + "\"";
}

} // namespace

std::string carve::applyEdits(llvm::StringRef Text, std::vector<SourceEdit> Edits) {
  sortEdits(Edits);
  std::string Out;
  size_t Here = 0;
  for (const SourceEdit &E : Edits) {
    Out += Text.slice(Here, E.Offset);
    Out += E.Insert;
    Here = E.Offset + E.Remove;
  }
  Out += Text.drop_front(Here);
  return Out;
}

std::string carve::unifiedDiff(llvm::StringRef Path, llvm::StringRef Text,
                               std::vector<SourceEdit> Edits) {
  if (Edits.empty())
    return "";
  sortEdits(Edits);
  std::vector<llvm::StringRef> Lines = linesOf(Text);
  std::vector<Change> Changes = changesOf(Text, Lines, Edits);
  std::string Out, Old = quotedPath("a/", Path), New = quotedPath("b/", Path);
  llvm::raw_string_ostream OS(Out);
  // A tab marks the end of a name that contains blanks.
  llvm::StringRef End = Path.contains(' ') ? "\t\n" : "\n";
  OS << "diff --git " << Old << " " << New << "\n--- " << Old << End << "+++ " << New << End;
  size_t Shift = 0;
  for (size_t I = 0; I < Changes.size();) {
    size_t Next = I + 1;
    while (Next < Changes.size() &&
           Changes[Next].OldBegin <= Changes[Next - 1].OldEnd + 2 * Context)
      ++Next;
    llvm::ArrayRef<Change> Near = llvm::ArrayRef(Changes).slice(I, Next - I);
    printHunk(Near, Lines, Shift, OS);
    for (const Change &C : Near)
      Shift += C.New.size() - (C.OldEnd - C.OldBegin);
    I = Next;
  }
  return Out;
}
