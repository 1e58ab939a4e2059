#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace systole::tests {

/// An example of docs/timing.md: the run of a program on a machine, cycle by cycle.
struct TimingExample {
    std::string section;   ///< the second-level heading above it
    std::string part;      ///< the third-level heading above it in this section; empty if there is none
    std::size_t line = 0;  ///< line of the page in which the table begins
    std::string machine;   ///< a machine file's keys, as JSON; the others keep their defaults
    std::string program;   ///< text assembly
    std::string table;     ///< as tests/support/cycle_table.h draws it
};

/// The examples of a page in order: each block of ```cycles with the blocks of ```json and ```asm that
/// precede it. Throws if one is missing.
inline std::vector<TimingExample> read_timing_page(const std::filesystem::path& page) {
    std::ifstream file(page);
    if (!file) throw std::runtime_error("cannot read " + page.string());
    std::vector<TimingExample> examples;
    TimingExample example;
    std::string* block = nullptr;
    std::string ignored;
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        constexpr std::string_view fence = "```";
        if (!line.starts_with(fence)) {
            if (block != nullptr) {
                *block += line + "\n";
            } else if (line.starts_with("## ")) {
                example.section = line.substr(3);
                example.part.clear();
            } else if (line.starts_with("### ")) {
                example.part = line.substr(4);
            }
        } else if (block == nullptr) {
            const std::string kind = line.substr(fence.size());
            block = kind == "json"     ? &example.machine
                    : kind == "asm"    ? &example.program
                    : kind == "cycles" ? &example.table
                                       : &ignored;
            block->clear();
            example.line = number;
        } else {
            if (block == &example.table) {
                if (example.machine.empty() || example.program.empty()) {
                    throw std::runtime_error(page.string() + ":" + std::to_string(number) +
                                             ": a table of cycles needs a machine and a program before it");
                }
                examples.push_back(example);
                example.machine.clear();
                example.program.clear();
            }
            block = nullptr;
        }
    }
    return examples;
}

}  // namespace systole::tests
