#pragma once

namespace systole::tests {

/// The project's folder. A function and no macro, so that ccache takes the compiled tests of another folder.
const char* source_dir();

}  // namespace systole::tests
