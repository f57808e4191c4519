/// \file
/// The style and the script of the page, with the content of lib/Report/Page. CMake generates
/// HtmlPage.cpp from these files; HtmlReport.cpp puts them into the page.
#pragma once

namespace carve {

extern const char PageStyle[], PageScript[];

} // namespace carve
