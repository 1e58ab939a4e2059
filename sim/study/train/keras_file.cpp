#include "sim/study/train/keras_file.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "base/message_text.h"
#include "base/whole_file.h"
#include "sim/run/input/formats.h"
#include "sim/run/input/images.h"

namespace systole::train {
namespace {

using input::InputError;
using run::OutputArray;

/// A handle of the HDF5 library, closed by the function for its kind.
class Handle {
public:
    using Close = herr_t (*)(hid_t);

    Handle(hid_t id, Close close) : id_(id), close_(close) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    bool is_valid() const { return id_ >= 0; }
    hid_t id() const { return id_; }

private:
    const hid_t id_;
    const Close close_;
};

constexpr const char* weights_group = "model_weights";

herr_t collect(hid_t /*group*/, const char* name, const H5O_info_t* info, void* names) {
    if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

/// "conv2d/kernel" of "conv2d/conv2d/kernel:0".
std::string end_of_path(std::string_view dataset) {
    dataset = dataset.substr(0, dataset.rfind(':'));
    const std::size_t last = dataset.rfind('/');
    if (last == std::string_view::npos || last == 0) return std::string(dataset);
    const std::size_t before = dataset.rfind('/', last - 1);
    return std::string(before == std::string_view::npos ? dataset : dataset.substr(before + 1));
}

/// The path in the name of an array: what is in its last quotes, or all of it.
std::string_view path_in(std::string_view name) {
    const std::size_t last = name.rfind('\'');
    if (last == std::string_view::npos || last == 0) return name;
    const std::size_t first = name.rfind('\'', last - 1);
    return first == std::string_view::npos ? name : name.substr(first + 1, last - first - 1);
}

class KerasFile {
public:
    KerasFile(const std::filesystem::path& network, const std::filesystem::path& open)
        : network_(network.string()), file_(H5Fopen(open.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose) {
        if (!file_.is_valid()) throw InputError(fmt::format("{}: it is no HDF5 file", network_));
    }

    void write(const std::vector<OutputArray>& state) const {
        const Handle group(H5Gopen2(file_.id(), weights_group, H5P_DEFAULT), H5Gclose);
        std::vector<std::string> datasets;
        if (!group.is_valid() || H5Ovisit(group.id(), H5_INDEX_NAME, H5_ITER_INC, collect, &datasets) < 0 ||
            datasets.empty()) {
            throw InputError(fmt::format("{}: it has no variables in {}, as Keras' .h5 files have", network_,
                                         weights_group));
        }
        for (const std::string& dataset : datasets) {
            const Handle variable(H5Dopen2(group.id(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
            write(variable.id(), dataset, array_for(dataset, state));
        }
    }

private:
    [[noreturn]] void fail(const std::string& dataset, const std::string& rule) const {
        throw InputError(fmt::format("{}: variable {}: {}", network_, in_quotes(dataset), rule));
    }

    const OutputArray& array_for(const std::string& dataset, const std::vector<OutputArray>& state) const {
        const std::string wanted = end_of_path(dataset);
        const OutputArray* found = nullptr;
        for (const OutputArray& array : state) {
            const std::string_view path = path_in(array.name);
            if (path != wanted && !path.ends_with("/" + wanted)) continue;
            if (found != nullptr) {
                fail(dataset, fmt::format("the training has two arrays for it, {} and {}",
                                          in_quotes(found->name), in_quotes(array.name)));
            }
            found = &array;
        }
        if (found == nullptr) fail(dataset, fmt::format("the training has no array that ends in {}", wanted));
        return *found;
    }

    void write(hid_t variable, const std::string& dataset, const OutputArray& array) const {
        const Handle space(H5Dget_space(variable), H5Sclose);
        const int axes = space.is_valid() ? H5Sget_simple_extent_ndims(space.id()) : -1;
        std::vector<hsize_t> extents(axes < 0 ? 0 : static_cast<std::size_t>(axes));
        if (axes < 0 || H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr) < 0)
            fail(dataset, "it is damaged");
        if (array.type != DataType::Float32 ||
            !std::equal(extents.begin(), extents.end(), array.shape.begin(), array.shape.end())) {
            fail(dataset, fmt::format("its shape is {}; {} is {} {}", shape_text(extents),
                                      in_quotes(array.name), name_of(array.type), shape_text(array.shape)));
        }
        if (H5Dwrite(variable, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.stored.data()) < 0)
            fail(dataset, "it cannot be written");
    }

    template <class Extents>
    static std::string shape_text(const Extents& extents) {
        return input::shape_text(std::vector<std::uint32_t>(extents.begin(), extents.end()));
    }

    const std::string network_;
    const Handle file_;
};

}  // namespace

void write_keras_file(const std::filesystem::path& network, const std::vector<OutputArray>& state,
                      const std::filesystem::path& copy) {
    WholeFile whole(copy);
    std::error_code error;
    std::filesystem::copy_file(network, whole.place(), std::filesystem::copy_options::overwrite_existing,
                               error);
    if (error)
        throw InputError(fmt::format("{}: it cannot be copied: {}", network.string(), error.message()));
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are exceptions
    KerasFile(network, whole.place()).write(state);
    whole.commit();
}

}  // namespace systole::train
