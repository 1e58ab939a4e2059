#pragma once

namespace systole::tests {

// Functions and no macros, so that ccache takes the compiled tests of another folder.

/// The program that is tested.
const char* sim_program();
/// The build's folder.
const char* build_dir();
/// A file with the paths of all sources that are part of a program of tests.
const char* list_of_test_sources();
/// The command that draws the validation's figures; a file and a folder follow.
const char* figures_command();

}  // namespace systole::tests
