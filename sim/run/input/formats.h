#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/zip/zip_file.h"
#include "sim/run/input/byte_stream.h"
#include "sim/run/input/images.h"
#include "sim/run/input/read_options.h"

/// The readers of the file formats; `read.h` chooses between them.
namespace systole::input {

/// IDX, the format of MNIST: big-endian magic number 0x00, 0x00, element type, number of dimensions;
/// one big-endian 32-bit extent a dimension; the elements. Only unsigned bytes (type 0x08) are read.
bool is_idx(ByteStream& stream);

/// An IDX file of images: 3 dimensions (N, H, W: one channel) or 4 (N, H, W, C).
Images read_idx_images(ByteStream& stream, const SizeCheck& check_size = {});

/// An IDX file of labels: 1 dimension, one byte a label.
std::vector<std::uint32_t> read_idx_labels(ByteStream& stream);

/// An array of a NumPy file, in row-major order.
struct Array {
    std::string name = {};             ///< in its .npz file; empty for a file of its own
    std::vector<std::uint32_t> shape;  ///< empty for a single number
    Values values;
};

/// Reads a NumPy file whose numbers are |u1 (pixels), |b1 (real numbers 0 and 1), |i1, <i2, <i4 or <i8 (which
/// must fit in 32 bits), <f2, <f4 or <f8 (which must be finite as 32-bit floats), little- or big-endian,
/// row-major or column-major.
/// Throws InputError.
Array read_npy_array(ByteStream& stream);

/// The inferences of an array, in the order of the graph. An array whose shape is that of the network's
/// input, with or without the number of inferences before it, is that input in the order of the network's
/// file. Else, if that order is the graph's, it holds images: shape (H, W), (N, H, W) or (N, H, W, C), or
/// vectors: shape (N, values), if the network takes so many values and does not take N * values. A layout in
/// the options declares another order: (N, H, W, C), (N, C, H, W), or the same without N.
Images images_of(Array array, const ReadOptions& options, std::string_view file);

/// Both, for a file of one array.
Images read_npy_images(ByteStream& stream, const ReadOptions& options = {});

inline constexpr std::string_view npy_extension = ".npy";

/// The names of the arrays of an .npz file, those of its entries without ".npy"; at least one. Throws
/// InputError if there is anything else in it.
std::vector<std::string> array_names(const ZipFile& archive, std::string_view file);

/// The arrays of an .npz file: a zip archive of .npy files, stored or deflated. Throws InputError for
/// anything else in it, and if they take more than `max_input_bytes` together.
std::vector<Array> read_npz(std::span<const std::uint8_t> bytes, std::string_view file);

/// The arrays of an .npz file, by name.
class NpzArrays {
public:
    /// Throws as `read_npz`.
    NpzArrays(std::span<const std::uint8_t> bytes, std::string_view file);

    /// The images of the network's input, from the array of its name or the only one. Throws InputError.
    Images images(const ReadOptions& options, std::string_view file) const;

private:
    std::vector<Array> arrays_;
    std::unordered_map<std::string, std::size_t> places_;  ///< of the names in `arrays_`
};

/// A NumPy file of labels: shape (N,); |u1, <i4 or <i8, from 0 to 2^32 - 1.
std::vector<std::uint32_t> read_npy_labels(ByteStream& stream);

/// The header of a NumPy file.
struct NpyHeader {
    std::string descr;  ///< element type as NumPy writes it if little-endian: "|u1", "<f4", ...
    std::vector<std::uint32_t> shape;  ///< empty for a scalar
    bool is_column_major = false;      ///< the first axis is the one whose elements lie side by side
};

bool is_npy(ByteStream& stream);

/// The number of elements of an array. Throws InputError if they take more than `max_input_bytes`.
std::uint64_t checked_elements(const NpyHeader& header, std::uint64_t bytes_per_element,
                               std::string_view file);

/// "(1, 28, 28)", as NumPy writes shapes.
std::string shape_text(std::span<const std::uint32_t> shape);

/// The number of inputs of this shape in an array; absent if it has another shape.
std::optional<std::uint32_t> inputs_in(std::span<const std::uint32_t> array,
                                       std::span<const std::uint32_t> input);

/// Reads magic number, version (1.0 or 2.0) and header of a .npy file, and leaves the stream at the first
/// value, in the file's byte order. Throws InputError for anything else, and for extents of 2^32 or more.
NpyHeader read_npy_header(ByteStream& stream);

bool is_png(std::span<const std::uint8_t> bytes);

/// A PNG file as one image of 1 channel (gray) or 3 (RGB; a palette is looked up).
///
/// Values are those in the file: gray of 1, 2 or 4 bits is scaled to 0..255, 16 bits are rounded to 8, and
/// no gamma or colour profile is applied, nor an EXIF orientation, which is noted. An alpha channel is
/// dropped if every pixel is opaque. An image with a pixel that is not opaque, and so has no definite colour,
/// throws an InputError, and so does any file that libpng rejects. Bytes after the image's end chunk are
/// ignored.
Images read_png(std::span<const std::uint8_t> bytes, std::string_view file, const SizeCheck& check_size = {});

bool is_jpeg(std::span<const std::uint8_t> bytes);

/// A JPEG file, baseline or progressive, as one image of 1 channel (gray) or 3 (RGB), decoded by
/// libjpeg-turbo's accurate integer transform with smooth upsampling of the colour, as Pillow and torchvision
/// do. An EXIF orientation is noted and not applied, nor are colour profiles. Throws InputError for other
/// colours (CMYK), and for a file that is cut off or damaged.
Images read_jpeg(std::span<const std::uint8_t> bytes, std::string_view file,
                 const SizeCheck& check_size = {});

bool is_bmp(std::span<const std::uint8_t> bytes);

/// A BMP file of 1, 4, 8 (with a palette), 24 or 32 bits a pixel, not compressed, as one image of 3 channels
/// (RGB), or of 1 if its palette has only grays. The fourth byte of 32-bit pixels is ignored. Bytes after the
/// last row are ignored. Throws InputError for anything else.
Images read_bmp(std::span<const std::uint8_t> bytes, std::string_view file, const SizeCheck& check_size = {});

/// Whether EXIF data (a TIFF file of either byte order) say that the picture is to be shown turned or
/// mirrored: an orientation of 2 to 8. Data that are damaged say nothing.
bool is_turned(std::span<const std::uint8_t> exif);

}  // namespace systole::input
