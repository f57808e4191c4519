#include "Nvcc/LinkLine.h"

#include "NvccTesting.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;

namespace {

LinkLine link(const Words &Arguments, const NvccEnvironment &Env = {"", "", "/none"}) {
  llvm::Expected<LinkLine> L = parseLinkLine(Arguments, Env);
  if (L)
    return *L;
  ADD_FAILURE() << llvm::toString(L.takeError());
  return {};
}

} // namespace

TEST(LinkLine, files_objectsAndArchives_areInOrder) {
  LinkLine L = link({"-arch=sm_90", "b.o", "host.cpp", "a.o", "libd.a", "x.so", "-o", "app"});
  EXPECT_EQ(L.Files, (Words{"b.o", "a.o", "libd.a"}));
  EXPECT_EQ(L.Output, "app");
  EXPECT_EQ(L.Argv.size(), 8u);
}

TEST(LinkLine, output_withoutOption_isWhatNvccWrites) {
  EXPECT_EQ(link({"a.o"}).Output, "a.out");
  EXPECT_EQ(link({"-shared", "a.o"}).Output, "a.out");
  EXPECT_EQ(link({"-dlink", "a.o"}).Output, "a_dlink.o");
  EXPECT_EQ(link({"-dlink", "-shared", "a.o"}).Output, "a_dlink.o");
}

TEST(LinkLine, libraries_byName_areLookedUp) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-link-line"));
  ASSERT_EQ(llvm::toString(writeFileAtomically(Dir.path() + "/libk.a", "")), "");
  NvccEnvironment Env{"", "", Dir.path()};
  EXPECT_EQ(link({"a.o", "-L.", "-lk", "-lm"}, Env).Files, (Words{"a.o", "./libk.a"}));
  EXPECT_EQ(link({"a.o", "-l", "m,k", "-L", "/none," + Dir.path()}, Env).Files,
            (Words{"a.o", Dir.path() + "/libk.a"}));
  EXPECT_EQ(link({"a.o", "-lk"}, Env).Files, (Words{"a.o"}));
  EXPECT_EQ(link({"a.o"}, {"-L.", "-lk", Dir.path()}).Files, (Words{"a.o", "./libk.a"}));
}

TEST(LinkLine, otherCommands_parsed_areLeftToNvcc) {
  const std::pair<Words, const char *> Cases[] = {
      {{"-c", "host.cpp"}, "no-device-source"},
      {{"a.cu"}, "unknown-input"},
      {{"-x", "cu", "a.o"}, "unknown-input"},
      {{"a.cubin", "-dlink"}, "unknown-input"},
      {{"-lib", "a.o"}, "library-output"},
      {{"-dlink", "-dlto", "a.o"}, "device-lto"},
      {{"-dlink", "a.o", "-o", ""}, "no-output-name"},
      {{"-dlink", "a.o", "-o", std::string(240, 'n')}, "long-output-name"},
      {{"-dlink", "-arch=lto_90", "a.o"}, "device-lto"},
      {{"-dlink", "-gencode=arch=compute_90,code=lto_90", "a.o"}, "device-lto"},
      {{"-dlink", "-G", "a.o"}, "device-debug"},
      {{"-r", "a.o"}, "relocatable-link"},
      {{"-dlink", "--keep", "a.o"}, "keep"},
      {{"-Wall", "a.o"}, "unknown-option"},
      {{"a.o", "-o"}, "unknown-option"},
      {{"-forward-unknown-opts", "a.o", "-o"}, "unknown-option"},
      {{"d/m.cpp", "m.c", "a.o"}, "same-stem"},
      {{"a$b.o"}, "shell-name"},
      {{"-Xcompiler", "-MD", "h.cpp", "a.o"}, "host-compiler-output"},
  };
  for (const auto &[Arguments, Reason] : Cases) {
    llvm::Expected<LinkLine> L = parseLinkLine(Arguments, {"", "", "/none"});
    EXPECT_EQ(L ? "a link" : reasonOf(L.takeError()), Reason) << testing::PrintToString(Arguments);
  }
  llvm::Expected<LinkLine> L = parseLinkLine({"-dlink", "a.o"}, {"", "-dlto", "/none"});
  EXPECT_EQ(L ? "a link" : reasonOf(L.takeError()), "device-lto");
  EXPECT_EQ(link({"-forward-unknown-opts", "-Wall", "a.o"}).Files, (Words{"a.o"}));
}
