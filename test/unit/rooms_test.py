#!/usr/bin/env python3
"""Holds the sources of lib/ and tools/ to the rules of their folders.

A folder with a carve_library() is a room. A room includes its own headers and those of the rooms
that it links, directly or through others. A folder has at most 25 sources. Every source has a
header of its own beside it. A type's name is declared once in a namespace. Tests lie in test/unit
as their subjects lie in lib/.

Run without arguments it checks the tree that it is in, and itself on small trees with one mistake.
"""

import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_SOURCES = 25

# Entry points, which nothing includes: they are called by name.
WITHOUT_HEADER = {"main.cpp", "Probe.cpp"}

LIBRARY = re.compile(r"carve_library\(\s*(\w+)([^)]*)\)")
TOOL = re.compile(r"carve_tool\(\s*([\w-]+)([^)]*)\)")
FEATURES = re.compile(r"target_link_libraries\(\s*carve-features\s+INTERFACE([^)]*)\)")
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;{]+)? \{", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class Tree:
    """The rooms of a source tree, and what each links."""

    def __init__(self, root):
        self.root = root
        self.lib = root / "lib"
        self.findings = []
        self.links = {}  # Room: the rooms that it names, both as paths below lib/.
        named = {}
        for file in sorted(self.lib.rglob("CMakeLists.txt")):
            room = file.parent.relative_to(self.lib).as_posix()
            for name, rest in LIBRARY.findall(file.read_text()):
                if name != room.replace("/", ""):
                    self.find(file, f"the library of {room} is called {name}")
                named[name] = room
                self.links[room] = rest
        # The probe's rooms are linked as one library.
        probe = [room for room in self.links if room.startswith("Probe/")]
        self.rooms_of = {"carve" + name: [room] for name, room in named.items()}
        self.rooms_of["carveProbe"] = probe
        for room, rest in self.links.items():
            self.links[room] = self.rooms_in(rest, self.lib / room / "CMakeLists.txt")
        features = FEATURES.search(read(self.lib / "CMakeLists.txt"))
        if features:
            self.rooms_of["carve-features"] = self.rooms_in(features[1], self.lib / "CMakeLists.txt")

    def find(self, file, what):
        self.findings.append(f"{file.relative_to(self.root)}: {what}")

    def rooms_in(self, words, file):
        rooms = []
        for word in words.split():
            if word in self.rooms_of:
                rooms += self.rooms_of[word]
            elif word.startswith("carve") and not word.startswith("carve-"):
                self.find(file, f"links {word}, which is no room")
        return rooms

    def below(self, rooms):
        """The rooms and everything that they link."""
        seen, todo = set(), list(rooms)
        while todo:
            room = todo.pop()
            if room not in seen:
                seen.add(room)
                todo += self.links[room]
        return seen

    def room_of(self, path):
        """The room that a file below lib/ is in: the nearest folder that is one."""
        folder = pathlib.PurePosixPath(path).parent
        while str(folder) != "." and str(folder) not in self.links:
            folder = folder.parent
        return str(folder)

    def check_cycles(self):
        for room, direct in self.links.items():
            if room in self.below(direct):
                self.find(self.lib / room / "CMakeLists.txt", f"{room} links itself through others")

    def check_includes(self, file, allowed):
        for header in INCLUDE.findall(file.read_text()):
            room = self.room_of(header)
            if room != "." and room not in allowed:
                self.find(file, f"includes {header}, but {room} is not linked")

    def check_libraries(self):
        for file in sources(self.lib, ".cpp", ".h", ".def", ".cu", ".in"):
            room = self.room_of(file.relative_to(self.lib))
            if room == ".":
                self.find(file, "is in no room")
            else:
                self.check_includes(file, self.below([room]))

    def check_tools(self):
        for file in sorted((self.root / "tools").glob("*/CMakeLists.txt")):
            for _, rest in TOOL.findall(file.read_text()):
                allowed = self.below(self.rooms_in(rest, file))
                for source in sources(file.parent, ".cpp", ".h"):
                    self.check_includes(source, allowed)

    def check_folders(self):
        for top in ("lib", "tools", "test/unit"):
            folders = {}
            for file in sources(self.root / top, ".cpp"):
                folders.setdefault(file.parent, []).append(file)
            for folder, files in folders.items():
                if len(files) > MOST_SOURCES:
                    self.find(folder, f"{len(files)} sources, expected at most {MOST_SOURCES}")

    def check_headers(self):
        for top in ("lib", "tools"):
            for file in sources(self.root / top, ".cpp"):
                if file.name not in WITHOUT_HEADER and not file.with_suffix(".h").exists():
                    self.find(file, f"has no header {file.stem}.h of its own")

    def check_types(self):
        """Two types of one name in one namespace link without a word, and break at run time."""
        declared = {}
        for file in sources(self.lib, ".h"):
            text = file.read_text()
            namespace = NAMESPACE.search(text)
            for name in TYPE.findall(text):
                place = declared.setdefault((namespace and namespace[1], name), file)
                if place != file:
                    self.find(file, f"declares {name}, as {place.relative_to(self.root)} does")

    def check_tests(self):
        unit = self.root / "test" / "unit"
        headers = {file.stem: [] for file in sources(self.lib, ".h")}
        for file in sources(self.lib, ".h"):
            headers[file.stem].append(file.parent.relative_to(self.lib).as_posix())
        for file in sources(unit, "Test.cpp"):
            folder = file.parent.relative_to(unit).as_posix()
            subject = headers.get(file.name[: -len("Test.cpp")], [])
            if subject and folder not in subject:
                self.find(file, f"expected in test/unit/{subject[0]}, as its subject")

    def check(self):
        self.check_cycles()
        if not self.findings:
            self.check_libraries()
            self.check_tools()
        self.check_folders()
        self.check_headers()
        self.check_types()
        self.check_tests()
        return self.findings


def read(file):
    return file.read_text() if file.exists() else ""


def sources(folder, *endings):
    return sorted(file for file in folder.rglob("*") if file.name.endswith(endings))


class ThisTree(unittest.TestCase):
    def test_tree_rules_hold(self):
        tree = Tree(ROOT)
        self.assertGreater(len(tree.links), 30)
        findings = tree.check()
        self.assertFalse(findings, "\n" + "\n".join(findings))


class Rules(unittest.TestCase):
    """Each rule on a sound tree of two rooms, to which one mistake is added."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("lib/CMakeLists.txt", "")
        self.write("lib/Low/CMakeLists.txt", "carve_library(Low)")
        self.write("lib/Low/Word.h", "")
        self.write("lib/Low/Word.cpp", '#include "Low/Word.h"')
        self.write("lib/High/CMakeLists.txt", "carve_library(High DEPS carveLow carve-llvm)")
        self.write("lib/High/Part/CMakeLists.txt", "carve_library(HighPart OBJECT\n  DEPS carveHigh)")
        self.write("lib/High/Text.h", '#include "Low/Word.h"')
        self.write("lib/High/Text.cpp", '#include "High/Text.h"\n#include "llvm/ADT/Twine.h"')
        self.write("lib/High/Part/Page.h", '#include "Low/Word.h"\n#include "High/Text.h"')
        self.write("tools/low/CMakeLists.txt", "carve_tool(low DEPS carveLow)")
        self.write("tools/low/main.cpp", '#include "Low/Word.h"')
        self.write("test/unit/High/TextTest.cpp", "")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def findings(self):
        return Tree(self.root).check()

    def test_type_declaredTwice_isFound(self):
        self.write("lib/Low/Word.h", "namespace carve {\nstruct Page {\n};\n}")
        self.write("lib/High/Text.h", "namespace carve {\nclass Page : public Text {\n};\n}")
        self.assertIn("declares Page", self.findings()[0])

    def test_type_ofAnotherNamespace_isAllowed(self):
        self.write("lib/Low/Word.h", "namespace carve::low {\nstruct Page {\n};\n}")
        self.write("lib/High/Text.h", "namespace carve {\nstruct Page;\nstruct Page {\n};\n}")
        self.assertEqual(self.findings(), [])

    def test_sound_tree_has_no_findings(self):
        self.assertEqual(self.findings(), [])

    def test_include_of_room_above_is_found(self):
        self.write("lib/Low/Word.h", '#include "High/Text.h"')
        self.assertEqual(self.findings(), ["lib/Low/Word.h: includes High/Text.h, but High is not linked"])

    def test_include_of_nested_room_above_is_found(self):
        self.write("lib/High/Text.h", '#include "High/Part/Page.h"')
        self.assertEqual(
            self.findings(), ["lib/High/Text.h: includes High/Part/Page.h, but High/Part is not linked"]
        )

    def test_include_of_tool_from_room_not_linked_is_found(self):
        self.write("tools/low/main.cpp", '#  include "High/Text.h"')
        self.assertEqual(
            self.findings(), ["tools/low/main.cpp: includes High/Text.h, but High is not linked"]
        )

    def test_cycle_of_rooms_is_found(self):
        self.write("lib/Low/CMakeLists.txt", "carve_library(Low DEPS carveHigh)")
        self.assertIn("lib/Low/CMakeLists.txt: Low links itself through others", self.findings())

    def test_library_of_other_name_is_found(self):
        self.write("lib/High/Part/CMakeLists.txt", "carve_library(Part DEPS carveHigh)")
        self.assertEqual(
            self.findings(), ["lib/High/Part/CMakeLists.txt: the library of High/Part is called Part"]
        )

    def test_link_to_no_room_is_found(self):
        self.write("lib/High/CMakeLists.txt", "carve_library(High DEPS carveLow carveDeep)")
        self.assertIn(
            "lib/High/CMakeLists.txt: links carveDeep, which is no room", self.findings()
        )

    def test_source_outside_of_rooms_is_found(self):
        self.write("lib/Other/Some.h", "")
        self.assertEqual(self.findings(), ["lib/Other/Some.h: is in no room"])

    def test_source_without_header_is_found(self):
        self.write("lib/Low/Lone.cpp", "")
        self.assertEqual(self.findings(), ["lib/Low/Lone.cpp: has no header Lone.h of its own"])

    def test_folder_with_too_many_sources_is_found(self):
        for number in range(MOST_SOURCES):
            self.write(f"lib/Low/Word{number}.h", "")
            self.write(f"lib/Low/Word{number}.cpp", "")
        self.assertEqual(self.findings(), ["lib/Low: 26 sources, expected at most 25"])

    def test_test_beside_other_room_is_found(self):
        self.write("test/unit/High/WordTest.cpp", "")
        self.assertEqual(
            self.findings(), ["test/unit/High/WordTest.cpp: expected in test/unit/Low, as its subject"]
        )


if __name__ == "__main__":
    unittest.main()
