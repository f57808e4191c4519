/// \file
/// Reads markup as strictly as an XML parser does, for tests of pages and plots.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace carve {

struct MarkupElement {
  std::string Name;
  std::map<std::string, std::string> Attributes;
  std::string Text; ///< The text directly within the element.

  const std::string &at(const std::string &Attribute) const {
    static const std::string None;
    auto A = Attributes.find(Attribute);
    return A == Attributes.end() ? None : A->second;
  }
  bool hasClass(llvm::StringRef Class) const {
    return (" " + at("class") + " ").find((" " + Class + " ").str()) != std::string::npos;
  }
  double number(const std::string &Attribute) const { return std::atof(at(Attribute).c_str()); }
};

/// Returns the elements of \p Text in the order of their starts. \p Fault says what an XML parser
/// would refuse, and which identifiers occur twice.
inline std::vector<MarkupElement> parseMarkup(llvm::StringRef Text, std::string &Fault) {
  std::vector<MarkupElement> All;
  std::vector<size_t> Open;
  std::set<std::string> Ids;
  Fault.clear();
  auto fail = [&](llvm::StringRef Why) {
    Fault = (Why + " before: " + Text.take_front(80)).str();
    return All;
  };
  Text.consume_front("<!DOCTYPE html>\n");
  while (!Text.empty()) {
    size_t At = std::min(Text.find('<'), Text.size());
    llvm::StringRef Words = Text.take_front(At);
    for (size_t Amp = Words.find('&'); Amp != llvm::StringRef::npos;
         Amp = Words.find('&', Amp + 1)) {
      llvm::StringRef Entity = Words.substr(Amp + 1).split(';').first;
      if (Entity != "amp" && Entity != "lt" && Entity != "gt" && Entity != "quot" &&
          !Entity.starts_with("#"))
        return fail("entity &" + Entity.str());
    }
    if (!Open.empty())
      All[Open.back()].Text += Words;
    Text = Text.drop_front(At);
    if (Text.consume_front("<![CDATA[")) {
      Text = Text.drop_front(std::min(Text.find("]]>") + 3, Text.size()));
      continue;
    }
    if (Text.consume_front("</")) {
      auto [Name, Rest] = Text.split('>');
      if (Open.empty() || All[Open.back()].Name != Name)
        return fail("</" + Name.str() + ">");
      Open.pop_back();
      Text = Rest;
      continue;
    }
    if (!Text.consume_front("<"))
      break;
    MarkupElement E;
    E.Name = Text.take_until([](char C) { return C == ' ' || C == '>' || C == '/'; }).str();
    Text = Text.drop_front(E.Name.size());
    while (Text.consume_front(" ") || Text.consume_front("\n")) {
      auto [Name, Rest] = Text.split("=\"");
      size_t End = Rest.find('"');
      if (End == llvm::StringRef::npos || Rest.take_front(End).contains('<'))
        return fail("attribute " + Name.take_front(20).str());
      if (!E.Attributes.emplace(Name.str(), Rest.take_front(End).str()).second)
        return fail("twice " + Name.str());
      Text = Rest.drop_front(End + 1);
    }
    bool Empty = Text.consume_front("/");
    if (!Text.consume_front(">"))
      return fail("<" + E.Name);
    if (E.Attributes.count("id") && !Ids.insert(E.at("id")).second)
      return fail("second id " + E.at("id"));
    All.push_back(std::move(E));
    if (!Empty)
      Open.push_back(All.size() - 1);
  }
  if (!Open.empty())
    Fault = "open: " + All[Open.back()].Name;
  return All;
}

} // namespace carve
