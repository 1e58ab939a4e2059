#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/record/record.h"

namespace systole::arrays {

/// The name of an output in names of files: characters other than letters, digits, '.', '_' and '-' become
/// '_', and those behind the first 150 are left out.
std::string file_name_of(std::string_view output);

/// A file that was written: "logits", "out/logits.npy", "float32 (500, 10)".
struct WrittenOutput {
    std::string output;
    std::filesystem::path file;
    std::string contents;
};

/// The file that says which file has which output, where names of outputs are shortened.
inline constexpr const char* names_file = "names.json";

/// Writes each output as FOLDER/NAME.npy, real numbers in float32, and as FOLDER/NAME.raw.npy the numbers
/// that the chip stores, where the output has such; an output without real numbers is FOLDER/NAME.npy in its
/// own type. If two outputs have the same name for files, the later
/// one gets a number: NAME_2. If a name is shortened, FOLDER/names.json has the whole name of each file's
/// output. Throws OutputError.
std::vector<WrittenOutput> write_outputs(std::span<const run::OutputArray> outputs,
                                         const std::filesystem::path& folder);

}  // namespace systole::arrays
