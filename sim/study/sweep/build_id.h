#pragma once

#include <string>

namespace systole::sweep {

/// The build of this program, in hexadecimal: the linker's note of its contents (GNU build ID). Two builds of
/// one version may have different results. Empty where the linker wrote none.
const std::string& build_id();

}  // namespace systole::sweep
