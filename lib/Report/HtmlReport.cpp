#include "Report/HtmlReport.h"

#include "Report/HtmlKernel.h"
#include "Report/HtmlPage.h"
#include "Report/HtmlSummary.h"
#include "Report/HtmlText.h"
#include "Report/HtmlVariant.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

/// Hides \p Content from XML parsers by a CDATA section, whose delimiters are comments of the style
/// or script for HTML parsers.
std::string guarded(llvm::StringRef Content) {
  return "/*<![CDATA[*/\n" + Content.str() + "/*]]>*/";
}

/// Returns how a policy names allowed content: `'sha256-...'`.
std::string policyHash(llvm::StringRef Content) {
  return "'sha256-" +
         llvm::encodeBase64(llvm::SHA256::hash(llvm::arrayRefFromStringRef<uint8_t>(Content))) +
         "'";
}

std::string headElement(const TuningReport &R, const std::string &Style,
                        const std::string &Script) {
  std::string Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
                       "style-src " +
                       policyHash(Style) + "; script-src " + policyHash(Script);
  return "<head>\n<meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\" "
         "content=\"" +
         Policy +
         "\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta "
         "name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"referrer\" "
         "content=\"no-referrer\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n<title>" +
         markupText(R.Workload.empty() ? "carve report"
                                       : R.Workload + " \xE2\x80\x93 carve report") +
         "</title>\n<style>" + Style + "</style>\n</head>\n";
}

constexpr char Reading[] = R"(<section class="reading" aria-labelledby="reading">
<h2 id="reading">How to read this</h2>
<dl>
<div><dt>Time / default</dt><dd>a variant’s time over that of nvcc’s own code, in the same round; below 1 it is faster. Speedups are the inverse.</dd></div>
<div><dt>Critical point</dt><dd>the most registers per thread with which a given number of blocks fits on an SM. With one more register, one block fewer fits.</dd></div>
<div><dt>Carved away</dt><dd>compiled and judged by its code, without being timed: another setting is as good in every metric and better in one, or gave the same code.</dd></div>
<div><dt>Efficiency, utilization</dt><dd>1 / (instructions × threads), and instructions between waits × warps that can run meanwhile, after Ryoo et al.</dd></div>
<div><dt>Names of variants</dt><dd><code>r40</code> register cap 40, <code>f255</code> front-end cap 255, <code>newllvm</code>, <code>newrolled</code>, <code>unroll</code>, <code>unroll2</code>, <code>noremat</code> knobs of the front end, <code>known</code>, <code>shapes</code>, <code>knownptx</code> compiled for the values of its launches, <code>restrict</code> compiled for pointers that do not alias, <code>smem</code> spills to shared memory, <code>cg</code>, <code>cs</code>, <code>noalloc</code> how global loads use the caches, <code>l10</code> register-usage level 10 of ptxas, <code>o1</code> its optimization level 1.</dd></div>
</dl>
</section>
)";

} // namespace

std::string carve::printHtmlReport(const TuningReport &R) {
  std::string Style = guarded(PageStyle), Script = guarded(PageScript);
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "<!DOCTYPE html>\n<html lang=\"en\">\n"
     << headElement(R, Style, Script) << "<body>\n<a class=\"skip\" href=\"#main\">Skip to the "
     << "result</a>\n<header class=\"page\"><p class=\"kind\">carve report</p><h1>"
     << markupText(R.Workload.empty() ? "A tuning" : R.Workload) << "</h1></header>\n"
     << "<main id=\"main\">\n<div class=\"top\">\n"
     << printResult(R) << printCircumstances(R) << "</div>\n"
     << glyphDefinitions() << printKernelTable(R);
  if (llvm::any_of(R.Kernels, hasVariants))
    OS << "<h2 id=\"hot\">Hot kernels</h2>\n";
  for (size_t I = 0; I < R.Kernels.size(); ++I)
    if (hasVariants(R.Kernels[I]))
      OS << printKernelSection(R, R.Kernels[I], I);
  OS << Reading << "</main>\n<script>" << Script << "</script>\n</body>\n</html>\n";
  return Text;
}
