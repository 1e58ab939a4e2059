#include "sim/run/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "sim/run/input/array_file.h"
#include "sim/run/input/axes.h"
#include "sim/run/input/formats.h"
#include "sim/run/network.h"

namespace systole::run {
namespace {

using input::ArrayFile;
using input::InputError;

/// The inputs and outputs.
std::vector<ir::ValueId> borders_of(const ir::Graph& graph) {
    std::vector<ir::ValueId> borders = graph.inputs;
    borders.insert(borders.end(), graph.outputs.begin(), graph.outputs.end());
    return borders;
}

/// An array that is for an input.
struct FoundArray {
    const ArrayFile* file = nullptr;
    std::string name;  ///< in an archive
};

/// Reads each file once.
class OpenArrays {
public:
    const ArrayFile& open(const Content& content) {
        const std::filesystem::path path = content.path.text;
        return files_.try_emplace(path, path).first->second;
    }

private:
    std::map<std::filesystem::path, ArrayFile> files_;
};

/// Finds the arrays of each input.
class ArraySearch {
public:
    ArraySearch(const std::vector<InputTensor>& tensors, const std::string& model)
        : tensors_(tensors), model_(model), found_(tensors.size()) {}

    /// The arrays of each input, which refer to files of this object.
    const std::vector<std::vector<FoundArray>>& search(const std::vector<InputFile>& files) {
        for (const InputFile& file : files) {
            if (!file.input.empty()) add_named(file);
        }
        const std::vector<std::vector<FoundArray>> named = found_;
        for (const InputFile& file : files) {
            if (file.input.empty()) add_unnamed(file, named);
        }
        check_complete();
        return found_;
    }

    /// Of each .npz file, the arrays that are for no input.
    std::vector<std::string> warnings() && { return std::move(warnings_); }

private:
    /// The input of a name, else that of a position; absent if there is none.
    std::optional<std::size_t> find_input(std::string_view given) const {
        const auto found = std::ranges::find(tensors_, given, &InputTensor::name);
        if (found != tensors_.end()) return static_cast<std::size_t>(found - tensors_.begin());
        return position_in(given, tensors_.size());
    }

    /// The name of an input's array in an archive, in which numpy.savez calls arrays without a name "arr_0".
    /// The only array of a file is for the only input. Absent if there is none.
    std::optional<std::string> find_array(const ArrayFile& file, std::size_t place,
                                          bool is_only_input) const {
        if (!file.is_archive()) return std::string();
        const auto has = [&](const std::string& name) {
            return std::ranges::find(file.names(), name) != file.names().end();
        };
        const auto is_name = [&](const std::string& name) {
            return std::ranges::find(tensors_, name, &InputTensor::name) != tensors_.end();
        };
        if (has(tensors_[place].name)) return tensors_[place].name;
        for (const std::string& position : {std::to_string(place), "arr_" + std::to_string(place)}) {
            if (has(position) && !is_name(position)) return position;
        }
        if (is_only_input && file.names().size() == 1) return file.names().front();
        return std::nullopt;
    }

    void add_named(const InputFile& given) {
        const std::string& path = given.content.path.text;
        const std::optional<std::size_t> place = find_input(given.input);
        if (!place) {
            throw InputError(fmt::format("{}={}: {} has no input of that name or position; there is {}",
                                         given.input, path, model_, all_names()));
        }
        const ArrayFile& file = files_.open(given.content);
        const std::optional<std::string> name = find_array(file, *place, true);
        if (!name) {
            throw InputError(fmt::format("{}: no array has the name or position of input {}", path,
                                         in_quotes(tensors_[*place].name)));
        }
        found_[*place].push_back({.file = &file, .name = *name});
    }

    /// An archive has arrays for those inputs that have no file of their own.
    void add_unnamed(const InputFile& given, const std::vector<std::vector<FoundArray>>& named) {
        const std::string& path = given.content.path.text;
        const ArrayFile& file = files_.open(given.content);
        if (!file.is_archive() && tensors_.size() > 1) {
            throw InputError(fmt::format(
                "{}: the network has several inputs; NAME={} says which one it is for", path, path));
        }
        bool is_used = false;
        std::vector<std::string> others = file.names();
        for (std::size_t place = 0; place < tensors_.size(); ++place) {
            const std::optional<std::string> name = find_array(file, place, tensors_.size() == 1);
            if (!name) continue;
            is_used = true;
            std::erase(others, *name);
            if (named[place].empty()) found_[place].push_back({.file = &file, .name = *name});
        }
        if (!is_used) {
            throw InputError(fmt::format("{}: no array has the name or position of an input; {} has {}", path,
                                         model_, all_names()));
        }
        if (others.empty()) return;
        for (std::string& name : others) name = in_quotes(name);
        warnings_.push_back(
            fmt::format("{}: {} for no input of {}: {}", path,
                        others.size() == 1 ? "an array is" : std::to_string(others.size()) + " arrays are",
                        model_, joined(others)));
    }

    void check_complete() const {
        std::vector<std::string> missing;
        for (std::size_t i = 0; i < found_.size(); ++i) {
            if (found_[i].empty()) missing.push_back(in_quotes(tensors_[i].name));
        }
        if (missing.empty()) return;
        throw InputError(fmt::format(
            "{}: {} no array: {}; --input NAME=FILE or an .npz file gives {}", model_,
            missing.size() == 1 ? "an input has" : std::to_string(missing.size()) + " inputs have",
            joined(missing), missing.size() == 1 ? "it" : "them"));
    }

    std::string all_names() const {
        std::vector<std::string> names;
        names.reserve(tensors_.size());
        for (const InputTensor& tensor : tensors_) names.push_back(in_quotes(tensor.name));
        return joined(names);
    }

    const std::vector<InputTensor>& tensors_;
    const std::string& model_;
    OpenArrays files_;
    std::vector<std::vector<FoundArray>> found_;
    std::vector<std::string> warnings_;
};

/// The parts of whole arrays, of which the replicas have one each, or all of it.
std::vector<std::uint32_t> parts_of_replicas(const std::vector<std::uint32_t>& words, std::size_t arrays,
                                             const InputTensor& tensor) {
    std::vector<std::uint32_t> parts;
    if (!tensor.split_axis) {
        const std::size_t each = words.size() / arrays;
        for (std::size_t array = 0; array < arrays; ++array) {
            const auto first = words.begin() + static_cast<std::ptrdiff_t>(array * each);
            for (std::uint32_t i = 0; i < tensor.replicas; ++i)
                parts.insert(parts.end(), first, first + static_cast<std::ptrdiff_t>(each));
        }
        return parts;
    }
    // The array is [outer][replica][inner], where inner is what a replica has for an index of the axes
    // before.
    std::size_t inner = 1;
    for (std::size_t axis = *tensor.split_axis; axis < tensor.shape.size(); ++axis)
        inner *= tensor.shape[axis];
    const std::size_t outer = words.size() / (arrays * tensor.replicas * inner);
    parts.reserve(words.size());
    for (std::size_t array = 0; array < arrays; ++array) {
        for (std::size_t replica = 0; replica < tensor.replicas; ++replica) {
            for (std::size_t line = 0; line < outer; ++line) {
                const std::size_t place = ((array * outer + line) * tensor.replicas + replica) * inner;
                const auto first = words.begin() + static_cast<std::ptrdiff_t>(place);
                parts.insert(parts.end(), first, first + static_cast<std::ptrdiff_t>(inner));
            }
        }
    }
    return parts;
}

/// The values of an array in the order of the graph; each inference is a vector. `place` leads messages.
input::Images values_of(input::WordArray array, const InputTensor& tensor, const std::string& place) {
    const std::vector<std::uint32_t> wanted = array_shape(tensor);
    std::optional<std::uint32_t> count = input::inputs_in(array.shape, wanted);
    const bool is_number = wanted == std::vector<std::uint32_t>{1} && array.shape.empty();
    if (is_number) count = 1;
    if (!count || *count == 0) {
        throw InputError(fmt::format(
            "{}: the array's shape is {}; input {} is {}, with or without a number of "
            "inferences before it",
            place, input::shape_text(array.shape), in_quotes(tensor.name), input::shape_text(wanted)));
    }
    if (tensor.replicas > 1) {
        array.words = parts_of_replicas(array.words, *count, tensor);
        *count *= tensor.replicas;
    }
    input::Images images{.count = *count,
                         .height = 1,
                         .width = 1,
                         .channels = static_cast<std::uint32_t>(array.words.size() / *count),
                         .values = {}};
    // Programs of several replicas have no order of axes of their own.
    images.values = tensor.replicas > 1 ? std::move(array.words)
                                        : input::permuted(std::move(array.words), *count, wanted,
                                                          input::inverse(tensor.file_axes));
    return images;
}

input::Images values_of(const FoundArray& found, const InputTensor& tensor) {
    return values_of(found.file->read(found.name, {.name = tensor.name, .type = tensor.type}), tensor,
                     found.file->place_of(found.name));
}

NamedImages read_input_arrays(const std::vector<FoundArray>& arrays, const InputTensor& tensor) {
    NamedImages named{.name = arrays.front().file->place_of(arrays.front().name),
                      .images = values_of(arrays.front(), tensor),
                      .in_files = 0,
                      .input = tensor.name,
                      .is_state = tensor.state_inferences > 0};
    for (const FoundArray& more : std::span(arrays).subspan(1)) {
        input::append(named.images, values_of(more, tensor), more.file->place_of(more.name));
    }
    named.in_files = named.images.count;
    return named;
}

void check_state(const NamedImages& input, std::uint64_t wanted) {
    if (input.images.count == wanted) return;
    throw InputError(
        fmt::format("{}: there are {} inferences; input {} is state, which goes in once, with {}", input.name,
                    input.images.count, in_quotes(input.input), wanted));
}

bool is_of_arrays(const ir::Value& value) {
    if (value.file_type || value.type == DataType::Bfloat16) return true;
    return value.type == DataType::Int32 && !value.quantization;
}

/// Operators on words are named so (compiler/operators/words.h).
bool is_on_words(const ir::Node& node) {
    return node.op->name().starts_with("word_");
}

}  // namespace

bool takes_arrays(const ir::Graph& graph, const machine::MachineConfig& machine) {
    if (!machine.computes_floats()) return false;
    return !graph.state.empty() || std::ranges::any_of(borders_of(graph), [&](ir::ValueId id) {
        return is_of_arrays(graph.values[id]);
    }) || std::ranges::any_of(graph.nodes, is_on_words);
}

bool takes_arrays(const isa::Program& program, const machine::MachineConfig& machine) {
    const auto is_other = [](const isa::BorderTensor& tensor) { return tensor.type != DataType::Float32; };
    return machine.computes_floats() &&
           (program.arrays || !program.state.empty() || std::ranges::any_of(program.inputs, is_other) ||
            std::ranges::any_of(program.outputs, is_other));
}

void check_takes_arrays(const ir::Graph& graph, const machine::MachineConfig& machine) {
    if (machine.computes_floats()) return;
    if (!graph.state.empty()) {
        throw ModelError(fmt::format(
            "{}: an output replaces {} in the next run, which only machines with tensor cores keep; {} has "
            "none",
            graph.name, in_quotes(graph.values[graph.inputs[graph.state.front().input]].name), machine.name));
    }
    if (std::ranges::any_of(graph.nodes, is_on_words)) {
        throw ModelError(
            fmt::format("{}: it is a program in words; only machines with tensor cores run it; {} has none",
                        graph.name, machine.name));
    }
    for (const ir::ValueId id : borders_of(graph)) {
        const ir::Value& value = graph.values[id];
        if (!value.file_type && value.type != DataType::Bfloat16) continue;
        throw ModelError(fmt::format(
            "{}: {} is {} in files, which only machines with tensor cores take; {} has none", graph.name,
            in_quotes(value.name), name_of(value.file_type.value_or(value.type)), machine.name));
    }
}

std::vector<InputTensor> array_tensors(const ir::Graph& graph) {
    std::vector<InputTensor> tensors;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const ir::Value& value = graph.values[graph.inputs[i]];
        const bool is_state =
            std::ranges::find(graph.state, i, &ir::Graph::State::input) != graph.state.end();
        InferenceAxes axes = axes_of_inference(value);
        tensors.push_back({.name = value.name,
                           .shape = std::move(axes.extents),
                           .file_axes = std::move(axes.file_axes),
                           .type = value.file_type.value_or(value.type),
                           .replicas = graph.replicas,
                           .split_axis = value.split_axis,
                           .state_inferences = is_state ? graph.replicas : 0});
    }
    return tensors;
}

std::vector<InputTensor> array_tensors(const isa::Program& program) {
    std::vector<InputTensor> tensors;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        const isa::BorderTensor& tensor = program.inputs[i];
        const bool is_state =
            std::ranges::find(program.state, i, &isa::StateTensors::input) != program.state.end();
        tensors.push_back({.name = tensor.name,
                           .shape = tensor.shape,
                           .file_axes = {},
                           .type = tensor.type,
                           .replicas = program.arrays ? program.arrays->replicas : 1,
                           .split_axis = tensor.split_axis,
                           .state_inferences = is_state ? program.batch : 0});
    }
    return tensors;
}

std::vector<std::uint32_t> array_shape(const InputTensor& tensor) {
    std::vector<std::uint32_t> shape = tensor.shape;
    if (tensor.split_axis) shape.at(*tensor.split_axis) *= tensor.replicas;
    return input::permuted(shape, tensor.file_axes);
}

NamedImages named_array(input::WordArray array, const InputTensor& tensor, const std::string& name) {
    NamedImages named{.name = name,
                      .images = values_of(std::move(array), tensor, name),
                      .input = tensor.name,
                      .is_state = tensor.state_inferences > 0};
    named.in_files = named.images.count;
    return named;
}

std::vector<NamedImages> read_arrays(const std::vector<InputFile>& files,
                                     const std::vector<InputTensor>& tensors, const std::string& model) {
    ArraySearch search(tensors, model);
    const std::vector<std::vector<FoundArray>>& found = search.search(files);
    std::vector<NamedImages> inputs;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        inputs.push_back(read_input_arrays(found[i], tensors[i]));
        if (inputs.back().is_state) {
            check_state(inputs.back(), tensors[i].state_inferences);
        } else {
            check_as_many(inputs.back(), *first_without_state(inputs));
        }
    }
    if (!inputs.empty()) inputs.front().warnings = std::move(search).warnings();
    return inputs;
}

NamedImages random_whole_array(const InputTensor& tensor, std::uint64_t count, std::uint64_t seed) {
    if (tensor.replicas == 1) return random_array(tensor, count, seed);
    InputTensor whole = tensor;
    whole.shape = array_shape(tensor);  // programs of several replicas have no order of axes of their own
    const std::uint64_t arrays = divide_up(count, std::uint64_t{tensor.replicas});
    NamedImages made = random_array(whole, arrays, seed);
    auto& words = std::get<std::vector<std::uint32_t>>(made.images.values);
    words = parts_of_replicas(words, arrays, tensor);
    made.images.count = static_cast<std::uint32_t>(arrays * tensor.replicas);
    made.images.channels = static_cast<std::uint32_t>(words.size() / made.images.count);
    made.in_files = made.images.count;
    return made;
}

void check_no_preparation(const Preparation& preparation, const std::string& model) {
    const bool is_prepared = preparation.resize || preparation.crop || preparation.is_given ||
                             preparation.layout != Layout::File || preparation.channels != ChannelOrder::Rgb;
    if (!is_prepared) return;
    throw InputError(
        fmt::format("{}: its inputs are arrays, which are taken as they are; resize, crop, layout, channels, "
                    "preset, input_scale, mean and std are for images",
                    model));
}

}  // namespace systole::run
