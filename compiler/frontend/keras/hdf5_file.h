#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace systole::frontend {

/// A handle of the HDF5 library, closed by the function for its kind.
class Hdf5Handle {
public:
    using Close = herr_t (*)(hid_t);

    Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
    ~Hdf5Handle() {
        if (valid()) close_(id_);
    }
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;

    bool valid() const { return id_ >= 0; }
    hid_t get() const { return id_; }

private:
    hid_t id_;
    Close close_;
};

/// Stops the HDF5 library from printing errors within a scope.
class SilencedHdf5 {
public:
    SilencedHdf5();
    ~SilencedHdf5();
    SilencedHdf5(const SilencedHdf5&) = delete;
    SilencedHdf5& operator=(const SilencedHdf5&) = delete;

private:
    H5E_auto2_t print_ = nullptr;
    void* print_data_ = nullptr;
};

/// The values of a dataset, packed, with the last dimension fastest.
struct Array {
    std::vector<std::uint64_t> shape;
    std::vector<float> values;
};

/// A file with text attributes and float datasets. Every method throws ModelError with the place in the file
/// if the file is damaged or an item has another type; none allocates more memory than the file's size
/// justifies, and none follows a link to another file.
class Hdf5File {
public:
    /// Throws ModelError if the file cannot be opened.
    explicit Hdf5File(const std::filesystem::path& path);
    /// A file in memory: its bytes, which must outlive this object.
    explicit Hdf5File(std::string_view image);

    bool has_group(const std::string& group) const;
    bool has_dataset(const std::string& dataset) const;
    /// The names of what is in a group, in alphabetical order; none if there is no such group.
    std::vector<std::string> children(const std::string& group) const;
    bool has_attribute(const std::string& group, const std::string& attribute) const;
    /// A text, of fixed or variable length.
    std::string text_attribute(const std::string& group, const std::string& attribute) const;
    /// A list of texts.
    std::vector<std::string> text_list_attribute(const std::string& group,
                                                 const std::string& attribute) const;
    /// A dataset of floating-point numbers of any width.
    Array read_floats(const std::string& dataset) const;
    /// A dataset of floating-point numbers or integers of any width.
    Array read_numbers(const std::string& dataset) const;

private:
    enum class Numbers : std::uint8_t { Floats, Any };

    void check() const;
    std::vector<std::string> texts(const std::string& group, const std::string& attribute) const;
    Array read(const std::string& dataset, Numbers numbers) const;
    Array read(hid_t dataset, const std::string& place, Numbers numbers) const;
    void check_size(hid_t dataset, std::uint64_t bytes, const std::string& place) const;
    [[noreturn]] void fail(const std::string& place, const std::string& rule) const;

    SilencedHdf5 silenced_;
    std::uint64_t file_bytes_;
    Hdf5Handle file_;
};

}  // namespace systole::frontend
