#pragma once

#include <string_view>

namespace systole::page {

/// The page without reports, as bundled when the program was built: HTML with the place `@REPORTS@`.
std::string_view embedded_page();

}  // namespace systole::page
