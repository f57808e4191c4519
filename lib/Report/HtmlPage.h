/// \file
/// The style and the script of the page, as they stand in the folder Page.
#pragma once

namespace carve {

extern const char PageStyle[], PageScript[];

} // namespace carve
