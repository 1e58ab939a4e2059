#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <map>
#include <string>
#include <vector>

#include "sim/view/terminal/screen.h"

namespace systole::cli {

/// What may stand as an option's value, as far as a shell can complete it.
struct Values {
    std::vector<std::string> words = {};  ///< one of them; those that end in "=" go on
    std::string presets = {};             ///< a name in this folder of configs/
    bool files = false;
    bool folders = false;
    bool listed = false;  ///< several, separated by commas
};

/// What all commands share: where they print, and what is known of their options' values.
class Context {
public:
    terminal::Screen screen;

    void note(const CLI::Option* option, Values values) { values_[option] = std::move(values); }
    /// As noted; else what the name of the value says: FILE or DIR.
    Values values_of(const CLI::Option& option) const;

    /// The option takes one of the words, or several, separated by commas; any other is an error.
    void only(CLI::Option* option, std::vector<std::string> words, bool listed = false);

private:
    std::map<const CLI::Option*, Values> values_;
};

}  // namespace systole::cli
