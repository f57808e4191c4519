#include "llvm/Object/ELFObjectFile.h"

#include <gtest/gtest.h>

using namespace llvm::object;

using Elf = ELFObjectFile<ELF64LE>;

static OwningBinary<ObjectFile> openProbe() {
  return llvm::cantFail(ObjectFile::createObjectFile(CARVE_TEST_PROBE));
}

TEST(ProbeLibrary, library_exportsOnlyItsEntry) {
  auto File = openProbe();
  std::vector<std::string> Names;
  for (const ELFSymbolRef &Symbol : llvm::cast<Elf>(File.getBinary())->getDynamicSymbolIterators())
    if (!(llvm::cantFail(Symbol.getFlags()) & BasicSymbolRef::SF_Undefined) &&
        Symbol.getELFType() != llvm::ELF::STT_SECTION)
      Names.push_back(llvm::cantFail(Symbol.getName()).str());
  EXPECT_EQ(Names, std::vector<std::string>{"InitializeInjection"});
}

TEST(ProbeLibrary, library_needsOnlyTheCLibrary) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "the sanitizer's libraries are needed as well";
  auto File = openProbe();
  const auto &Object = llvm::cast<Elf>(File.getBinary())->getELFFile();
  auto Dynamic = llvm::cantFail(Object.dynamicEntries());
  uint64_t Strings = 0;
  for (const auto &Entry : Dynamic)
    if (Entry.getTag() == llvm::ELF::DT_STRTAB)
      Strings = Entry.getVal();
  auto *Text = reinterpret_cast<const char *>(llvm::cantFail(Object.toMappedAddr(Strings)));
  for (const auto &Entry : Dynamic) {
    if (Entry.getTag() != llvm::ELF::DT_NEEDED)
      continue;
    llvm::StringRef Name = Text + Entry.getVal();
    EXPECT_TRUE(Name.starts_with("libc.so.") || Name.starts_with("ld-linux")) << Name.str();
  }
}
