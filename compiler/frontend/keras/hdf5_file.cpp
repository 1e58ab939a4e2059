#include "compiler/frontend/keras/hdf5_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

/// deflate cannot pack more tightly, and neither do the other filters files come with.
constexpr std::uint64_t largest_compression = 1032;

std::uint64_t size_of(const std::filesystem::path& path) {
    std::error_code error;
    const std::uint64_t bytes = std::filesystem::file_size(path, error);
    if (error) throw ModelError(fmt::format("it cannot be read: {}", error.message()));
    return bytes;
}

/// Texts of one fixed length each, padded with zeros or spaces.
std::vector<std::string> split(const std::vector<char>& bytes, std::size_t length, bool space_padded) {
    std::vector<std::string> texts;
    for (std::size_t first = 0; first + length <= bytes.size(); first += length) {
        std::string text(bytes.data() + first, strnlen(bytes.data() + first, length));
        if (space_padded) text.erase(text.find_last_not_of(' ') + 1);
        texts.push_back(std::move(text));
    }
    return texts;
}

bool is_space_padded(hid_t type) {
    return H5Tget_strpad(type) == H5T_STR_SPACEPAD;
}

// The library would copy a file in memory twice. These functions give it the bytes themselves wherever it
// wants memory for a copy; it never changes them, because it only reads.

void* same_bytes(std::size_t /*size*/, H5FD_file_image_op_t /*operation*/, void* bytes) {
    return bytes;
}

void* no_copy(void* to, const void* /*from*/, std::size_t /*size*/, H5FD_file_image_op_t /*operation*/,
              void* /*bytes*/) {
    return to;
}

herr_t not_freed(void* /*bytes*/, H5FD_file_image_op_t /*operation*/, void* /*same_bytes*/) {
    return 0;
}

void* same_data(void* bytes) {
    return bytes;
}

herr_t data_not_freed(void* /*bytes*/) {
    return 0;
}

hid_t open_image(std::string_view image) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    constexpr std::size_t growth = 4096;  // of a file that is written
    auto* const bytes = const_cast<char*>(image.data());
    H5FD_file_image_callbacks_t callbacks{.image_malloc = same_bytes,
                                          .image_memcpy = no_copy,
                                          .image_realloc = nullptr,
                                          .image_free = not_freed,
                                          .udata_copy = same_data,
                                          .udata_free = data_not_freed,
                                          .udata = bytes};
    if (image.empty() || H5Pset_fapl_core(access.get(), growth, false) < 0 ||
        H5Pset_file_image_callbacks(access.get(), &callbacks) < 0 ||
        H5Pset_file_image(access.get(), bytes, image.size()) < 0) {
        return H5I_INVALID_HID;
    }
    // The library takes two open files of the same name for one.
    const std::string name = fmt::format("memory at {}", static_cast<const void*>(bytes));
    return H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.get());
}

herr_t append_name(hid_t /*group*/, const char* name, const H5L_info_t* /*link*/, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

}  // namespace

SilencedHdf5::SilencedHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

SilencedHdf5::~SilencedHdf5() {
    H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

Hdf5File::Hdf5File(const std::filesystem::path& path)
    : file_bytes_(size_of(path)), file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose) {
    check();
}

Hdf5File::Hdf5File(std::string_view image) : file_bytes_(image.size()), file_(open_image(image), H5Fclose) {
    check();
}

void Hdf5File::check() const {
    if (!file_.valid()) throw ModelError("it is not an HDF5 file, or it is damaged");
    // A file that the user did not name must not be read, wherever a link leads. That this fails only says
    // that it was done before.
    H5Lunregister(H5L_TYPE_EXTERNAL);
}

void Hdf5File::fail(const std::string& place, const std::string& rule) const {
    throw ModelError(fmt::format("{}: {}", in_quotes(place), rule));
}

bool Hdf5File::has_group(const std::string& group) const {
    const Hdf5Handle handle(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
    return handle.valid();
}

bool Hdf5File::has_dataset(const std::string& dataset) const {
    const Hdf5Handle handle(H5Dopen2(file_.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
    return handle.valid();
}

std::vector<std::string> Hdf5File::children(const std::string& group) const {
    const Hdf5Handle handle(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
    std::vector<std::string> names;
    if (!handle.valid()) return names;
    hsize_t first = 0;
    if (H5Literate(handle.get(), H5_INDEX_NAME, H5_ITER_INC, &first, append_name, &names) < 0) {
        fail(group, "it is damaged");
    }
    return names;
}

bool Hdf5File::has_attribute(const std::string& group, const std::string& attribute) const {
    return H5Aexists_by_name(file_.get(), group.c_str(), attribute.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Hdf5File::texts(const std::string& group, const std::string& attribute) const {
    const std::string place = fmt::format("{}@{}", group, attribute);
    const Hdf5Handle handle(
        H5Aopen_by_name(file_.get(), group.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!handle.valid()) fail(place, "there is no such attribute");
    const Hdf5Handle type(H5Aget_type(handle.get()), H5Tclose);
    const Hdf5Handle space(H5Aget_space(handle.get()), H5Sclose);
    if (!type.valid() || !space.valid()) fail(place, "it is damaged");
    const hssize_t points = H5Sget_simple_extent_npoints(space.get());
    if (points < 0) fail(place, "it is damaged");
    const auto count = static_cast<std::uint64_t>(points);
    if (count == 0) return {};
    if (H5Tget_class(type.get()) != H5T_STRING) fail(place, "it must be text");
    const std::size_t length = H5Tget_size(type.get());
    if (length == 0 || count > file_bytes_ || length > file_bytes_ / count) {
        fail(place, fmt::format("it claims {} texts of {} bytes; the file has {} bytes", count, length,
                                file_bytes_));
    }

    if (H5Tis_variable_str(type.get()) > 0) {
        std::vector<char*> pointers(count, nullptr);
        const herr_t status = H5Aread(handle.get(), type.get(), pointers.data());
        std::vector<std::string> result;
        result.reserve(pointers.size());
        for (const char* const text : pointers) result.emplace_back(text == nullptr ? "" : text);
        H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, pointers.data());
        if (status < 0) fail(place, "it is damaged");
        return result;
    }
    std::vector<char> bytes(count * length);
    if (H5Aread(handle.get(), type.get(), bytes.data()) < 0) fail(place, "it is damaged");
    return split(bytes, length, is_space_padded(type.get()));
}

std::string Hdf5File::text_attribute(const std::string& group, const std::string& attribute) const {
    std::vector<std::string> values = texts(group, attribute);
    if (values.size() != 1) {
        fail(fmt::format("{}@{}", group, attribute),
             fmt::format("it has {} texts; it must have 1", values.size()));
    }
    return std::move(values[0]);
}

std::vector<std::string> Hdf5File::text_list_attribute(const std::string& group,
                                                       const std::string& attribute) const {
    return texts(group, attribute);
}

Array Hdf5File::read_floats(const std::string& dataset) const {
    return read(dataset, Numbers::Floats);
}

Array Hdf5File::read_numbers(const std::string& dataset) const {
    return read(dataset, Numbers::Any);
}

Array Hdf5File::read(const std::string& dataset, Numbers numbers) const {
    const Hdf5Handle handle(H5Dopen2(file_.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
    if (!handle.valid()) fail(dataset, "there is no such dataset");
    return read(handle.get(), dataset, numbers);
}

Array Hdf5File::read(hid_t dataset, const std::string& place, Numbers numbers) const {
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
    if (!type.valid() || !space.valid()) fail(place, "it is damaged");
    const H5T_class_t kind = H5Tget_class(type.get());
    if (numbers == Numbers::Floats && kind != H5T_FLOAT) fail(place, "it must be of floating-point numbers");
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) fail(place, "it must be of numbers");
    constexpr int most_dimensions = 8;
    const int dimensions = H5Sget_simple_extent_ndims(space.get());
    if (dimensions < 0 || dimensions > most_dimensions) {
        fail(place, fmt::format("it has {} dimensions; it must have 0 to {}", dimensions, most_dimensions));
    }
    std::array<hsize_t, most_dimensions> extents{};
    if (H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) != dimensions)
        fail(place, "it is damaged");

    Array array;
    std::uint64_t elements = 1;
    std::uint64_t bytes = H5Tget_size(type.get());
    for (int i = 0; i < dimensions; ++i) {
        const std::uint64_t extent = extents[static_cast<std::size_t>(i)];
        array.shape.push_back(extent);
        if (__builtin_mul_overflow(bytes, extent, &bytes)) fail(place, "its dimensions are too large");
        elements *= extent;
    }
    if (elements == 0) return array;
    check_size(dataset, bytes, place);
    array.values.resize(elements);
    if (H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()) < 0) {
        fail(place, "it is damaged");
    }
    if (!std::ranges::all_of(array.values, [](float value) { return std::isfinite(value); })) {
        fail(place, "it has values that are not finite numbers");
    }
    return array;
}

void Hdf5File::check_size(hid_t dataset, std::uint64_t bytes, const std::string& place) const {
    const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    if (!creation.valid()) fail(place, "it is damaged");
    if (H5Pget_external_count(creation.get()) != 0)
        fail(place, "its values are in another file; they must be in this one");
    if (H5Pget_layout(creation.get()) == H5D_VIRTUAL)
        fail(place, "its values are those of other datasets; they must be its own");
    const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(dataset), file_bytes_);
    const bool packed = H5Pget_layout(creation.get()) == H5D_CHUNKED && H5Pget_nfilters(creation.get()) > 0;
    if (bytes / (packed ? largest_compression : 1) > stored) {
        fail(place, fmt::format("it claims {} bytes of values; the file has {} for them", bytes, stored));
    }
}

}  // namespace systole::frontend
