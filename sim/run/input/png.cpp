#include <fmt/format.h>
#include <png.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/input/formats.h"
#include "sim/run/input/images.h"

namespace systole::input {
namespace {

constexpr std::size_t signature_bytes = 8;
/// Deflate expands one byte to at most 1032: a PNG header that claims a larger image is wrong.
constexpr std::uint64_t max_deflate_ratio = 1032;

/// libpng's reader over bytes in memory.
///
/// libpng reports errors with longjmp, which must not skip a destructor. So the functions that call setjmp
/// only call libpng, have no objects, and return false after an error.
class Decoder {
public:
    explicit Decoder(std::span<const std::uint8_t> bytes)
        : rest_(bytes),
          png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning)),
          info_(png_ != nullptr ? png_create_info_struct(png_) : nullptr) {
        if (info_ == nullptr) {
            png_destroy_read_struct(&png_, nullptr, nullptr);
            throw std::bad_alloc();
        }
        png_set_read_fn(png_, this, on_read);
    }
    ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    /// Reads up to the first row and asks for 8-bit gray or RGB, with alpha where the file has it.
    bool read_info() {
        if (setjmp(png_jmpbuf(png_)) != 0) return false;
        png_read_info(png_, info_);
        stored_row_bytes_ = png_get_rowbytes(png_, info_);
        png_set_expand(png_);
        png_set_scale_16(png_);
        png_set_interlace_handling(png_);
        png_read_update_info(png_, info_);
        return true;
    }

    /// Reads the rows, each of width() * channels() bytes, and everything after them.
    bool read_rows(png_bytepp rows) {
        if (setjmp(png_jmpbuf(png_)) != 0) return false;
        png_read_image(png_, rows);
        png_read_end(png_, info_);
        return true;
    }

    std::uint32_t width() const { return png_get_image_width(png_, info_); }
    std::uint32_t height() const { return png_get_image_height(png_, info_); }
    std::uint32_t channels() const { return png_get_channels(png_, info_); }
    /// The bytes of a row as the file stores it, before any conversion.
    std::uint64_t stored_row_bytes() const { return stored_row_bytes_; }
    /// EXIF data, which may stand before or behind the rows; empty without.
    std::span<const std::uint8_t> exif() const {
        png_uint_32 size = 0;
        png_bytep data = nullptr;
        if (png_get_eXIf_1(png_, info_, &size, &data) == 0) return {};
        return {data, size};
    }
    /// libpng's message after a function has returned false.
    std::string message() const { return message_.data(); }

private:
    static void on_read(png_structp png, png_bytep out, std::size_t size) {
        auto* self = static_cast<Decoder*>(png_get_io_ptr(png));
        if (self->rest_.size() < size) png_error(png, "the file is cut off");
        std::memcpy(out, self->rest_.data(), size);
        self->rest_ = self->rest_.subspan(size);
    }

    [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
        auto* self = static_cast<Decoder*>(png_get_error_ptr(png));
        std::strncpy(self->message_.data(), message, self->message_.size() - 1);
        png_longjmp(png, 1);
    }

    // Warnings are ignored: libpng can read the file in spite of them.
    static void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}

    std::span<const std::uint8_t> rest_;
    png_structp png_;
    png_infop info_;
    std::uint64_t stored_row_bytes_ = 0;
    std::array<char, 128> message_{};  // zero-terminated: the last byte is never written
};

/// Drops the alpha value, the last of each pixel's `channels`, in place. Every pixel must be opaque.
void drop_alpha(std::vector<std::uint8_t>& pixels, std::uint32_t width, std::uint32_t channels,
                std::string_view file) {
    constexpr std::uint8_t opaque = 255;
    const std::size_t count = pixels.size() / channels;
    std::size_t out = 0;
    for (std::size_t pixel = 0; pixel < count; ++pixel) {
        const std::size_t in = pixel * channels;
        const std::uint8_t alpha = pixels[in + channels - 1];
        if (alpha != opaque) {
            throw InputError(
                fmt::format("{}: pixel at row {}, column {} has alpha {}; it must be opaque (255)", file,
                            pixel / width, pixel % width, alpha));
        }
        for (std::size_t channel = 0; channel + 1 < channels; ++channel) pixels[out++] = pixels[in + channel];
    }
    pixels.resize(out);
}

}  // namespace

bool is_png(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= signature_bytes && png_sig_cmp(bytes.data(), 0, signature_bytes) == 0;
}

Images read_png(std::span<const std::uint8_t> bytes, std::string_view file, const SizeCheck& check_size) {
    Decoder decoder(bytes);
    if (!decoder.read_info()) throw InputError(fmt::format("{}: PNG header: {}", file, decoder.message()));

    const std::uint32_t stored_channels = decoder.channels();
    const bool has_alpha = stored_channels == 2 || stored_channels == 4;
    Images image{.count = 1,
                 .height = decoder.height(),
                 .width = decoder.width(),
                 .channels = has_alpha ? stored_channels - 1 : stored_channels,
                 .values = {}};
    const std::uint64_t size = checked_size(image, 1, file) / image.channels * stored_channels;
    if (decoder.stored_row_bytes() * image.height > max_deflate_ratio * bytes.size()) {
        throw InputError(fmt::format("{}: PNG header says {}x{} pixels; the file's {} bytes cannot hold them",
                                     file, image.height, image.width, bytes.size()));
    }

    if (check_size) check_size(image, file);
    std::vector<std::uint8_t> pixels(size);
    std::vector<png_bytep> rows(image.height);
    const std::size_t row_bytes = std::size_t{image.width} * stored_channels;
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = pixels.data() + row * row_bytes;
    if (!decoder.read_rows(rows.data())) {
        throw InputError(fmt::format("{}: PNG image data: {}", file, decoder.message()));
    }
    if (has_alpha) drop_alpha(pixels, image.width, stored_channels, file);
    if (is_turned(decoder.exif())) image.turned = 1;
    image.values = std::move(pixels);
    return image;
}

}  // namespace systole::input
