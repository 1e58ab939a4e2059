#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/view/terminal/screen.h"

namespace systole::cli {

/// The values of an option that a shell can complete.
struct Values {
    std::vector<std::string> words = {};  ///< valid words; after one that ends in "=" a value follows
    std::string presets = {};             ///< a name of this kind (sim/run/path_finder.h)
    bool files = false;
    bool folders = false;
    bool listed = false;  ///< several words are allowed, separated by commas
};

/// The data that all commands share: the screen, and the values that options take.
class Context {
public:
    terminal::Screen screen;
    int exit_code = 0;  ///< of a command that succeeded and still has something to say

    void note(const CLI::Option* option, Values values) { values_[option] = std::move(values); }
    /// The values that `note` or `only` gave; else those that the name of the value means: FILE or DIR.
    Values values_of(const CLI::Option& option) const;

    /// Restricts the option to one of the words, or to several, separated by commas; any other word is an
    /// error.
    void only(CLI::Option* option, std::vector<std::string> words, bool listed = false);

private:
    std::map<const CLI::Option*, Values> values_;
};

}  // namespace systole::cli
