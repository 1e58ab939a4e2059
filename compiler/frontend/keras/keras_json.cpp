#include "compiler/frontend/keras/keras_json.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/message_text.h"
#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

/// The plain value in an object that wraps one, or null.
json* wrapped_value(json& object) {
    const auto name = object.find("class_name");
    if (name == object.end() || !name->is_string()) return nullptr;
    const auto& class_name = name->get_ref<const std::string&>();
    const auto member = [](json& holder, const char* key) -> json* {
        const auto found = holder.is_object() ? holder.find(key) : holder.end();
        return found == holder.end() ? nullptr : &*found;
    };
    if (class_name == "__tuple__" || class_name == "TensorShape") return member(object, "items");
    if (class_name == "__numpy__" || class_name == "__tensor__") {
        json* const config = member(object, "config");
        return config == nullptr ? nullptr : member(*config, "value");
    }
    return nullptr;
}

/// Renames keys unless the config already has the new one.
void rename(json& config, std::initializer_list<std::pair<const char*, const char*>> names) {
    for (const auto& [before, now] : names) {
        const auto found = config.find(before);
        if (found == config.end()) continue;
        if (!config.contains(now)) config[now] = std::move(*found);
        config.erase(before);
    }
}

/// Two keys that are the elements of one now.
void pair_up(json& config, const char* first, const char* second, const char* now) {
    if (!config.contains(first) || !config.contains(second)) return;
    config[now] = json::array({config[first], config[second]});
    config.erase(first);
    config.erase(second);
}

constexpr std::array<std::pair<std::string_view, const char*>, 5> convolution_classes{{
    {"Convolution1D", "Conv1D"},
    {"Convolution2D", "Conv2D"},
    {"AtrousConvolution1D", "Conv1D"},
    {"AtrousConvolution2D", "Conv2D"},
    {"SeparableConvolution2D", "SeparableConv2D"},
}};

/// What Keras 1 writes for the two orders of an image's axes.
void modernize_data_format(json& config) {
    rename(config, {{"dim_ordering", "data_format"}});
    const auto format = config.find("data_format");
    if (format == config.end()) return;
    if (*format == "tf") *format = "channels_last";
    if (*format == "th") *format = "channels_first";
    if (*format == "default") config.erase(format);
}

/// Keras 1's Merge is several classes in Keras 2.
void modernize_merge(std::string& class_name, json& config) {
    static const std::map<std::string, const char*, std::less<>> classes{{"sum", "Add"},
                                                                         {"mul", "Multiply"},
                                                                         {"concat", "Concatenate"},
                                                                         {"ave", "Average"},
                                                                         {"max", "Maximum"}};
    const json mode = config.value("mode", json("sum"));
    const auto found = mode.is_string() ? classes.find(mode.get_ref<const std::string&>()) : classes.end();
    if (found == classes.end()) {
        throw ModelError(fmt::format(
            "mode is {}; it must be \"sum\", \"mul\", \"concat\", \"ave\" or \"max\"", describe(mode)));
    }
    if (config.contains("layers") && !config["layers"].is_null()) {
        throw ModelError("it merges models that are not layers of the model itself; that is not supported");
    }
    class_name = found->second;
    rename(config, {{"concat_axis", "axis"}});
    config.erase("mode");
}

/// hard_sigmoid is steeper before Keras 3. A function is a name, or an object with the name as its config.
void rename_function(json& function) {
    if (function.is_object() && function.contains("config")) return rename_function(function["config"]);
    if (function == "hard_sigmoid") function = "hard_sigmoid of Keras 3";
}

constexpr std::string_view keras_3_function = "ops.";

/// The name that both versions of Keras have in common: "divide" of tf.math.truediv and of keras.ops.Divide.
std::string function_name(const std::string& whole_name) {
    static const std::map<std::string, const char*, std::less<>> names{{"truediv", "divide"},
                                                                       {"TrueDivide", "divide"},
                                                                       {"Divide", "divide"},
                                                                       {"Multiply", "multiply"},
                                                                       {"Subtract", "subtract"},
                                                                       {"Add", "add"},
                                                                       {"bias_add", "add"},
                                                                       {"Relu", "relu"},
                                                                       {"Relu6", "relu6"},
                                                                       {"Sigmoid", "sigmoid"},
                                                                       {"Tanh", "tanh"},
                                                                       {"Softmax", "softmax"},
                                                                       {"Silu", "silu"},
                                                                       {"Elu", "elu"},
                                                                       {"Selu", "selu"},
                                                                       {"Softplus", "softplus"},
                                                                       {"HardSwish", "hard_silu"},
                                                                       {"HardSilu", "hard_silu"},
                                                                       {"LeakyRelu", "leaky_relu"},
                                                                       {"Gelu", "gelu"},
                                                                       {"HardSigmoid", "hard_sigmoid"},
                                                                       {"Softsign", "softsign"},
                                                                       {"LogSoftmax", "log_softmax"}};
    std::string name = whole_name.substr(whole_name.rfind('.') + 1);
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
}

/// f of a number, or of each of a list of numbers.
template <typename Function>
json for_each_number(const json& numbers, const Function& f) {
    if (!numbers.is_array()) return f(numbers);
    json results = json::array();
    for (const json& number : numbers) results.push_back(f(number));
    return results;
}

}  // namespace

bool is_function(std::string_view class_name) {
    return class_name == "TFOpLambda" || class_name.starts_with(keras_3_function);
}

void modernize_function(std::string& class_name, json& config, const json& arguments, std::size_t inputs) {
    static const std::set<std::string, std::less<>> functions{
        "relu",  "relu6", "sigmoid", "tanh",     "softmax",   "silu",
        "swish", "elu",   "selu",    "softplus", "hard_silu", "hard_sigmoid"};
    if (!config.is_object()) throw ModelError("its config must be an object");
    std::string whole_name = class_name;
    if (class_name == "TFOpLambda") {
        const json function = config.value("function", json());
        if (!function.is_string()) throw ModelError("function must be text");
        whole_name = "tf." + function.get<std::string>();
    }
    const std::string name = function_name(whole_name);
    const json other = arguments.contains("y") ? arguments["y"] : arguments.value("bias", json());
    const auto number = [](const json& value) {
        if (!value.is_number()) {
            throw ModelError(
                fmt::format("it is called with {}; only tensors and numbers are supported", describe(value)));
        }
        return value.get<double>();
    };
    for (const json* const given : {&arguments, static_cast<const json*>(&config)}) {
        for (const auto& [key, value] : given->items()) {
            const bool is_understood = key == "y" || key == "bias" || (key == "axis" && value == -1);
            if (given == &config ? key != "axis" || is_understood : is_understood) continue;
            throw ModelError(fmt::format("{} is called with {}, {}; that is not supported", whole_name,
                                         in_quotes(key), describe(value)));
        }
    }
    class_name = whole_name;
    if (inputs == 2 && name == "add") class_name = "Add";
    if (inputs == 2 && name == "multiply") class_name = "Multiply";
    if (inputs != 1) return;
    if (functions.contains(name)) {
        class_name = "Activation";
        config["activation"] = name;
        if (whole_name.starts_with(keras_3_function)) rename_function(config["activation"]);
        return;
    }
    if (other.is_null()) return;
    if (name == "divide")
        config["scale"] = for_each_number(other, [&](const json& y) { return 1 / number(y); });
    if (name == "multiply") config["scale"] = for_each_number(other, number);
    if (name == "add") config["offset"] = for_each_number(other, number);
    if (name == "subtract")
        config["offset"] = for_each_number(other, [&](const json& y) { return -number(y); });
    if (config.contains("scale") || config.contains("offset")) class_name = "Rescaling";
}

void unwrap_values(json& value) {
    if (!value.is_structured()) return;
    for (json& element : value) unwrap_values(element);
    if (!value.is_object()) return;
    if (json* const plain = wrapped_value(value)) {
        json inner = std::move(*plain);
        value = std::move(inner);
    }
}

void modernize(std::string& class_name, json& config, int major_version) {
    if (!config.is_object()) return;
    constexpr int first_with_other_functions = 3;
    for (const char* const key : {"activation", "recurrent_activation"}) {
        if (major_version >= first_with_other_functions && config.contains(key)) rename_function(config[key]);
    }
    if (class_name == "Merge") modernize_merge(class_name, config);
    for (const auto& [before, now] : convolution_classes) {
        if (class_name == before) class_name = now;
    }
    pair_up(config, "nb_row", "nb_col", "kernel_size");
    rename(config, {{"nb_filter", "filters"},
                    {"filter_length", "kernel_size"},
                    {"subsample", "strides"},
                    {"subsample_length", "strides"},
                    {"border_mode", "padding"},
                    {"bias", "use_bias"},
                    {"atrous_rate", "dilation_rate"}});
    if (class_name == "Dense") rename(config, {{"output_dim", "units"}});
    if (class_name == "MaxPooling1D" || class_name == "AveragePooling1D") {
        rename(config, {{"pool_length", "pool_size"}, {"stride", "strides"}});
    }
    modernize_data_format(config);
    if (class_name == "BatchNormalization") {
        // Mode 1 normalizes each sample by itself; modes 0 and 2 differ in training only.
        const json mode = config.value("mode", json(0));
        if (mode != 0 && mode != 2) {
            throw ModelError(fmt::format("mode is {}; it must be 0 or 2", describe(mode)));
        }
    }
}

}  // namespace systole::frontend
