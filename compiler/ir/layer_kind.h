#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/feature_map.h"
#include "compiler/ir/value.h"

/// The layers of network files, described by operators as data that front ends read from the registry.
namespace systole::ir {

using ValueId = std::uint32_t;
struct Graph;

enum class Format : std::uint8_t { Keras, GraphJson, Tflite, Onnx };

/// An optional input that a node of a file does not have.
inline constexpr ValueId no_value = std::numeric_limits<ValueId>::max();

/// The results of a layer, in the order of the file.
class Results : public std::vector<ValueId> {
public:
    Results(ValueId result) : std::vector<ValueId>{result} {}  // NOLINT(google-explicit-constructor)
    Results(std::vector<ValueId> results)                      // NOLINT(google-explicit-constructor)
        : std::vector<ValueId>(std::move(results)) {}
};

/// A request for a weight of a layer: read from the file, or drawn if the file has seeds instead.
struct WeightRequest {
    std::vector<std::string_view> roles;  ///< the names it may have; versions of a format use different ones
    std::vector<std::uint64_t> file_shape = {};
    Shape shape = {};     ///< shape of the tensor in the graph, with as many elements
    double limit = 0.0;   ///< drawn values are between -limit and limit
    double center = 0.0;  ///< added to each drawn value
    /// Known even if weights are skipped.
    bool always_known = false;
    /// Counts towards the limit of a network's weights.
    bool is_counted = false;
    /// The names that the part of the layer may have to which the weight belongs, such as "query" in an
    /// attention of Keras. None, or an empty one: it belongs to the layer itself.
    std::vector<std::string_view> owner = {};
};

/// Access of an operator to one layer of a network file: the values of its keys, its inputs and its weights.
/// Front ends implement it. Every method throws ModelError with layer, key, value and rule. A key that is
/// null counts as absent. Asking for a key that the LayerKind does not list throws std::logic_error.
class LayerReader {
public:
    virtual ~LayerReader() = default;

    virtual bool has(const char* key) const = 0;
    virtual std::uint32_t positive(const char* key,
                                   std::optional<std::uint32_t> absent = std::nullopt) const = 0;
    /// [a, b], or a for both; each at least 1.
    virtual std::array<std::uint32_t, 2> positive_pair(
        const char* key, std::optional<std::array<std::uint32_t, 2>> absent = std::nullopt) const = 0;
    virtual bool boolean(const char* key, bool absent) const = 0;
    virtual float number(const char* key, float absent) const = 0;
    virtual std::string text(const char* key, std::string_view absent) const = 0;
    /// The elements of a list; a value that is no list counts as a list of one element. An element is nullopt
    /// unless it is an integer from -2^31 to 2^32 - 1. The result is nullopt if the key is absent.
    using Integers = std::vector<std::optional<std::int64_t>>;
    virtual std::optional<Integers> integers(const char* key) const = 0;
    /// The same for an element of a list.
    virtual Integers integers_of(const char* key, std::size_t element) const = 0;
    /// A number or the numbers of a list; nullopt if the key is absent.
    virtual std::optional<std::vector<double>> numbers(const char* key) const = 0;
    /// A text or the texts of a list; nullopt if the key is absent.
    virtual std::optional<std::vector<std::string>> texts(const char* key) const = 0;
    virtual bool is_list(const char* key) const = 0;
    virtual bool is_text(const char* key) const = 0;
    /// Throws unless the key has this value, the only supported one.
    virtual void require_number(const char* key, int only) const = 0;
    virtual void require_text(const char* key, std::string_view only) const = 0;
    /// Throws unless the axis is the last one of an input with one dimension (`flat`) or three.
    virtual void require_last_axis(const char* key, bool flat) const = 0;
    [[noreturn]] virtual void fail(const char* key, std::string_view rule) const = 0;
    [[noreturn]] virtual void fail(std::string_view rule) const = 0;

    /// All inputs; in TFLite and ONNX with the constants, and `no_value` for those left out.
    virtual const std::vector<ValueId>& inputs() const = 0;
    /// Input number `index`, or nullopt if the file leaves it out.
    std::optional<ValueId> input_if_any(std::size_t index) const {
        if (index >= inputs().size() || inputs()[index] == no_value) return std::nullopt;
        return inputs()[index];
    }
    /// A value of the graph: its shape, type, quantization and contents.
    virtual const Value& value(ValueId id) const = 0;
    /// The number of results that the file's node names, and the type that the file gives each (TFLite).
    virtual std::size_t result_count() const = 0;
    virtual ResultType declared_result(std::size_t index) const = 0;
    /// The input of a layer with one input.
    virtual ValueId input() const = 0;
    /// The first extent of images.
    virtual std::uint32_t batch() const = 0;
    /// Whether the first axis of an input has no size in the file and nobody gives one: it counts as the
    /// batch.
    virtual bool has_open_batch() const = 0;
    virtual FeatureMap map_of(ValueId value) const = 0;
    FeatureMap input_map() const { return map_of(input()); }

    /// The nodes and constants that follow get the name LAYER/PART; the name of the layer if it is empty.
    virtual void begin_part(std::string_view part) = 0;
    /// The same for a part that the layer has for each of its steps (Graph::repeated).
    virtual void begin_repeated_part(std::string_view part) = 0;
    /// Adds a weight as a constant and returns it.
    virtual ValueId weight(const WeightRequest& request) = 0;
    /// Adds a constant with values that follow from the layer's keys.
    virtual ValueId constant(std::string_view role, const Shape& shape, std::vector<float> values) = 0;
    /// Adds a constant of any type.
    virtual ValueId add_constant(std::string_view role, const Shape& shape, DataType type,
                                 Constant contents) = 0;
    /// The value with this quantization, which a file that keeps scales apart from tensors gives it. Fails if
    /// the value has another one.
    virtual ValueId as_quantized(ValueId value, const Quantization& quantization) = 0;
    /// Appends a node of the layer and returns its results. If all its inputs are known constants, the
    /// results become constants instead. Results have the given types, or those of the operator's rule.
    virtual std::vector<ValueId> append_node(std::string_view op, std::vector<NamedAttribute> attributes,
                                             std::vector<ValueId> inputs,
                                             std::vector<ResultType> types = {}) = 0;
    /// The same for a node of one result.
    ValueId append(std::string_view op, std::vector<NamedAttribute> attributes, std::vector<ValueId> inputs) {
        return append_node(op, std::move(attributes), std::move(inputs)).front();
    }
    ValueId append_as(const ResultType& type, std::string_view op, std::vector<NamedAttribute> attributes,
                      std::vector<ValueId> inputs) {
        return append_node(op, std::move(attributes), std::move(inputs), {type}).front();
    }
    /// Applies the function that the key names, if any, to the layer's own result.
    virtual ValueId append_function(const char* key, ValueId result) = 0;
    /// Adds the network's input. Throws ModelError if the layer has inputs itself.
    virtual ValueId add_input(const Shape& shape) = 0;
    /// The factor by which the mean square of a layer's result should exceed that of its input: 2 before a
    /// ReLU, which halves it (He et al. 2015), else 1.
    virtual double drawn_gain() const = 0;
};

/// A key of a layer in a file.
struct LayerKey {
    std::string name;
    std::string meaning;  ///< the attribute it becomes, or its other meaning
};

/// A kind of layer in a file format that becomes nodes of an operator.
struct LayerKind {
    Format format = Format::Keras;
    std::string name;  ///< Keras: class name; graph JSON: `op`; TFLite and ONNX: name of the operator
    std::vector<LayerKey> keys = {};
    /// Appends the nodes of a layer and returns its results.
    std::function<Results(LayerReader& layer)> build;
};

/// A function that layers apply to their own result, by its name in a file format.
struct FunctionName {
    Format format = Format::Keras;
    std::string name;
    std::vector<NamedAttribute> attributes = {};
};

}  // namespace systole::ir
