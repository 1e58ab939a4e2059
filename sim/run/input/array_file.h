#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/zip/zip_file.h"
#include "sim/run/input/byte_stream.h"

/// Arrays as words of 32 bits (hw/math/floats/word_values.h), for networks whose inputs have any number
/// format.
namespace systole::input {

/// The input that an array is read for.
struct WordInput {
    std::string_view name;  ///< for messages
    DataType type = DataType::Float32;
};

/// An array in row-major order; each element is the word of a number of the input's format.
struct WordArray {
    std::vector<std::uint32_t> shape;  ///< empty for a single number
    std::vector<std::uint32_t> words;
};

/// The word of a number; absent if the format does not hold it exactly.
std::optional<std::uint32_t> exact_word(double number, DataType type);
/// The word of a number, rounded to a format of floats; absent if it is beyond the format's largest number.
std::optional<std::uint32_t> rounded_word(double number, DataType type);
/// Which numbers a format holds, for messages: "int8, whose numbers are whole, from -128 to 127".
std::string numbers_text(DataType type);

/// Reads a NumPy file of |b1, integers of 8 to 64 bits, <f2, <f4, <f8, or <V2, as which ml_dtypes writes
/// bfloat16; of either byte order and either order of axes. Numbers keep their values, whatever the formats
/// of file and input. For an input of bfloat16, uint16 are its bits. Throws InputError for a number that the
/// input's format does not hold exactly.
WordArray read_npy_words(ByteStream& stream, const WordInput& input);

/// A file of arrays: NPY (gzip or not) or NPZ, as its first bytes say.
class ArrayFile {
public:
    /// Reads the file. Throws InputError.
    explicit ArrayFile(const std::filesystem::path& path);

    bool is_archive() const { return archive_.has_value(); }
    /// The names of an archive's arrays, at least one.
    const std::vector<std::string>& names() const { return names_; }
    /// How messages name an array, or the only one.
    std::string place_of(const std::string& name) const;
    /// An array of an archive, or the only one. Throws InputError.
    WordArray read(const std::string& name, const WordInput& input) const;
    /// Its shape, by its header. Throws InputError.
    std::vector<std::uint32_t> shape(const std::string& name) const;

private:
    /// What `read` makes of the stream of an array.
    template <typename Read>
    auto read_with(const std::string& name, const Read& read) const;

    std::string path_;
    std::vector<std::uint8_t> bytes_;
    std::optional<ZipFile> archive_;  ///< its bytes are `bytes_`
    std::vector<std::string> names_;
};

}  // namespace systole::input
