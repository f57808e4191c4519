#include "Support/YamlReader.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <set>

using namespace carve;
namespace yaml = llvm::yaml;

YamlReader::YamlReader(llvm::StringRef Text, llvm::StringRef Name, llvm::StringRef Whole)
    : Name(Name), Whole(Whole), Stream(Text, Sources, /*ShowColors=*/false) {
  Sources.setDiagHandler([](const llvm::SMDiagnostic &D,
                            void *Reader) { static_cast<YamlReader *>(Reader)->noteSyntax(D); },
                         this);
}

void YamlReader::noteSyntax(const llvm::SMDiagnostic &D) {
  if (Syntax.empty())
    Syntax =
        (Name + ":" + llvm::Twine(D.getLineNo()) + ": " + D.getMessage() + "; expected " + Whole)
            .str();
}

unsigned YamlReader::line() const {
  return Here.isValid() ? Sources.getLineAndColumn(Here).first : 1;
}

std::string YamlReader::at() const { return (Name + ":" + llvm::Twine(line()) + ": ").str(); }

llvm::Error YamlReader::fail(const llvm::Twine &Message) {
  if (Stream.failed())
    return malformed(Syntax);
  return malformed(at() + Message);
}

static std::string describeNode(yaml::Node &N) {
  if (auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N)) {
    llvm::SmallString<64> Storage;
    return ("'" + Scalar->getValue(Storage) + "'").str();
  }
  switch (N.getType()) {
  case yaml::Node::NK_Null:
    return "nothing";
  case yaml::Node::NK_Mapping:
    return "a mapping";
  case yaml::Node::NK_Sequence:
    return "a list";
  case yaml::Node::NK_Alias:
    return "an alias";
  default:
    return "a block of text";
  }
}

llvm::Error YamlReader::mismatch(yaml::Node &Actual, const llvm::Twine &Expected) {
  return fail(Key + ": " + describeNode(Actual) + ", expected " + Expected);
}

llvm::Error YamlReader::readDocument(llvm::function_ref<llvm::Error(yaml::Node &)> Read,
                                     const llvm::Twine &Expected) {
  yaml::document_iterator Document = Stream.begin();
  yaml::Node *Root = Document == Stream.end() ? nullptr : Document->getRoot();
  if (!Root || Stream.failed() || llvm::isa<yaml::NullNode>(Root))
    return fail("nothing, expected " + Expected);
  Here = Root->getSourceRange().Start;
  if (llvm::Error Failed = Read(*Root))
    return Failed;
  if (Stream.failed() || ++Document != Stream.end())
    return fail("a second document, expected one");
  if (Stream.failed())
    return fail("");
  return llvm::Error::success();
}

llvm::Error YamlReader::readMapping(yaml::Node &N, llvm::StringRef What,
                                    llvm::ArrayRef<Member> Members) {
  auto *Mapping = llvm::dyn_cast<yaml::MappingNode>(&N);
  if (!Mapping)
    return fail(What + ": " + describeNode(N) + ", expected a mapping");
  llvm::SMLoc Start = Here;
  std::set<llvm::StringRef> Seen;
  for (yaml::KeyValueNode &Pair : *Mapping) {
    auto *KeyNode = llvm::dyn_cast_or_null<yaml::ScalarNode>(Pair.getKey());
    if (!KeyNode)
      return fail(What + ": a key is not a text, expected a name");
    Here = KeyNode->getSourceRange().Start;
    llvm::SmallString<32> Storage;
    llvm::StringRef Given = KeyNode->getValue(Storage);
    const Member *Known = llvm::find_if(Members, [&](const Member &M) { return M.Key == Given; });
    if (Known == Members.end())
      return fail(
          "unknown key '" + Given + "' in " + What + ", expected " +
          llvm::join(llvm::map_range(Members, [](const Member &M) { return M.Key; }), ", "));
    if (!Seen.insert(Known->Key).second)
      return fail("key '" + Given + "' given twice in " + What + ", expected once");
    Key = Known->Key;
    yaml::Node *Value = Pair.getValue();
    if (!Value || Stream.failed())
      return fail("no value");
    if (llvm::Error Failed = Known->Read(*Value))
      return Failed;
  }
  Here = Start;
  for (const Member &M : Members)
    if (M.Required && !Seen.count(M.Key))
      return fail("no '" + M.Key + "' in " + What);
  return llvm::Error::success();
}

llvm::Error YamlReader::readList(yaml::Node &N,
                                 llvm::function_ref<llvm::Error(yaml::Node &)> Read) {
  if (llvm::isa<yaml::NullNode>(N))
    return llvm::Error::success();
  auto *List = llvm::dyn_cast<yaml::SequenceNode>(&N);
  if (!List)
    return mismatch(N, "a list");
  for (yaml::Node &Item : *List) {
    Here = Item.getSourceRange().Start;
    if (llvm::Error Failed = Read(Item))
      return Failed;
  }
  return llvm::Error::success();
}

llvm::Error YamlReader::readText(yaml::Node &N, std::string &Out, bool MayBeEmpty) {
  if (auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N)) {
    llvm::SmallString<128> Storage;
    Out = Scalar->getValue(Storage).str();
  } else if (auto *Block = llvm::dyn_cast<yaml::BlockScalarNode>(&N)) {
    Out = Block->getValue().str();
  } else {
    return mismatch(N, "a text");
  }
  if (Stream.failed() || (Out.empty() && !MayBeEmpty))
    return mismatch(N, "a text");
  return llvm::Error::success();
}

llvm::Error YamlReader::readNumber(yaml::Node &N, unsigned &Out, unsigned Min, unsigned Max) {
  auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N);
  // The raw value keeps its quotes, so a quoted number is a text.
  if (!Scalar || Scalar->getRawValue().getAsInteger(10, Out) || Out < Min || Out > Max)
    return mismatch(N, "a number in " + llvm::Twine(Min) + ".." + llvm::Twine(Max));
  return llvm::Error::success();
}

llvm::Error YamlReader::readOnly(yaml::Node &N, llvm::StringRef Expected) {
  auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N);
  if (!Scalar || Scalar->getRawValue() != Expected)
    return mismatch(N, Expected);
  return llvm::Error::success();
}

llvm::Error YamlReader::readRatio(yaml::Node &N, double &Out) {
  auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N);
  if (!Scalar || Scalar->getRawValue().getAsDouble(Out) || !std::isfinite(Out) || Out < 0)
    return mismatch(N, "a ratio such as 0.95");
  return llvm::Error::success();
}
