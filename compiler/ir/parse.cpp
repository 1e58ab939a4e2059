// Reads the text of a graph.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <type_traits>

#include "base/conversion.h"
#include "base/data_type.h"
#include "base/message_text.h"
#include "base/user_error.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"

namespace systole::ir {
namespace {

constexpr std::string_view first_word = "graph ";

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

// Tables by character: a constant of a host segment may be a word of 200 million characters.
using CharacterTable = std::array<std::uint8_t, 256>;

constexpr CharacterTable word_characters = [] {
    CharacterTable table{};
    for (unsigned c = 0; c < table.size(); ++c) {
        table[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                   c == '.' || c == '-' || c == '+';
    }
    return table;
}();

/// Numbers from 16 on belong to no digit.
constexpr CharacterTable hexadecimal_digits = [] {
    CharacterTable table{};
    table.fill(16);
    for (unsigned c = '0'; c <= '9'; ++c) table[c] = static_cast<std::uint8_t>(c - '0');
    for (unsigned c = 'a'; c <= 'f'; ++c) table[c] = static_cast<std::uint8_t>(c - 'a' + 10);
    return table;
}();

bool is_word(char c) {
    return word_characters[static_cast<unsigned char>(c)] != 0;
}

std::optional<std::uint8_t> digit_of(char c) {
    const std::uint8_t digit = hexadecimal_digits[static_cast<unsigned char>(c)];
    return digit < 16 ? std::optional(digit) : std::nullopt;
}

/// Reads two digits for each byte; false if one of them is none.
bool read_hexadecimal(std::string_view digits, std::uint8_t* bytes) {
    unsigned all = 0;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        const unsigned high = hexadecimal_digits[static_cast<unsigned char>(digits[i])];
        const unsigned low = hexadecimal_digits[static_cast<unsigned char>(digits[i + 1])];
        all |= high | low;
        *bytes++ = static_cast<std::uint8_t>(high << 4U | low);
    }
    return all < 16;
}

/// The tokens of a text. A token is a mark, a name in quotes, or a word of letters, digits and signs.
class Tokens {
public:
    Tokens(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    [[noreturn]] void fail(std::string_view rule) {
        skip_space();
        std::string_view token = text_.substr(position_, 1);
        if (!token.empty() && is_word(token.front())) {
            token = text_.substr(position_, word_end() - position_);
        } else if (token == "\n") {
            token = "end of line";
        } else if (token.empty()) {
            token = "end of file";
        }
        throw ModelError(fmt::format("{}:{}:{}: {}: {}", file_, line_, position_ - line_begin_ + 1,
                                     in_quotes(token), rule));
    }

    bool at_end() {
        while (true) {
            skip_space();
            if (position_ == text_.size()) return true;
            if (text_[position_] == '#') position_ = std::min(text_.find('\n', position_), text_.size());
            if (position_ == text_.size()) return true;
            if (text_[position_] != '\n') return false;
            next_line();
        }
    }

    void end_line() {
        skip_space();
        if (position_ == text_.size()) return;
        if (text_[position_] != '\n') fail("the line must end here");
        next_line();
    }

    char peek() {
        skip_space();
        return position_ == text_.size() ? '\n' : text_[position_];
    }
    bool take(char mark) {
        if (peek() != mark || mark == '\n') return false;
        ++position_;
        return true;
    }
    void expect(char mark) {
        if (!take(mark)) fail(fmt::format("it must be '{}'", mark));
    }

    std::string_view peek_word() {
        skip_space();
        return text_.substr(position_, word_end() - position_);
    }
    /// Behind a word that was looked at.
    void skip(std::string_view word) { position_ += word.size(); }
    std::string_view word(std::string_view what) {
        const std::string_view found = peek_word();
        if (found.empty()) fail(fmt::format("it must be {}", what));
        position_ += found.size();
        return found;
    }
    bool take_word(std::string_view wanted) {
        if (peek_word() != wanted) return false;
        position_ += wanted.size();
        return true;
    }
    void expect_word(std::string_view wanted) {
        if (!take_word(wanted)) fail(fmt::format("it must be {}", wanted));
    }

    template <typename Number>
    Number number(std::string_view what) {
        const std::optional<Number> value = peek_number<Number>();
        if (!value) fail(fmt::format("it must be {}", what));
        position_ += peek_word().size();
        return *value;
    }
    template <typename Number>
    std::optional<Number> peek_number() {
        const std::string_view found = peek_word();
        Number value{};
        const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
        if (found.empty() || error != std::errc{} || end != found.data() + found.size()) return std::nullopt;
        return value;
    }

    std::string name() {
        if (peek() != '"') fail("it must be a name in quotes");
        const std::size_t begin = position_++;
        std::string result;
        while (true) {
            const char c = position_ < text_.size() ? text_[position_++] : '\n';
            if (c == '"') return result;
            if (c == '\n') {
                position_ = begin;
                fail("the name must end in its line");
            }
            result += c == '\\' ? escape(begin) : c;
        }
    }

private:
    char escape(std::size_t begin) {
        const char c = position_ < text_.size() ? text_[position_++] : '\n';
        if (c == '"' || c == '\\') return c;
        if (c == 'x' && position_ + 2 <= text_.size()) {
            const auto high = digit_of(text_[position_]);
            const auto low = digit_of(text_[position_ + 1]);
            position_ += 2;
            if (high && low) return static_cast<char>(*high * 16 + *low);
        }
        position_ = begin;
        fail("after a backslash, a name has a quote, a backslash, or x and two digits");
    }

    void skip_space() {
        while (position_ < text_.size() && is_space(text_[position_])) ++position_;
    }
    std::size_t word_end() const {
        std::size_t end = position_;
        while (end < text_.size() && is_word(text_[end])) ++end;
        return end;
    }
    void next_line() {
        ++position_;
        ++line_;
        line_begin_ = position_;
    }

    std::string_view text_;
    std::string_view file_;
    std::size_t position_ = 0;
    std::size_t line_ = 1;
    std::size_t line_begin_ = 0;
};

std::vector<std::string> names_of(const std::vector<const Operator*>& operators) {
    std::vector<std::string> names;
    names.reserve(operators.size());
    for (const Operator* op : operators) names.emplace_back(op->name());
    return names;
}

class Parser {
public:
    Parser(std::string_view text, std::string_view file, const OperatorSet& operators)
        : tokens_(text, file), file_(file), operators_(operators) {}

    Graph parse() {
        tokens_.expect_word("graph");
        graph_.name = tokens_.name();
        if (tokens_.take_word("without")) {
            tokens_.expect_word("weights");
            graph_.has_weights = false;
        }
        tokens_.end_line();
        if (tokens_.take_word("replicas")) {
            graph_.replicas = tokens_.number<std::uint32_t>("a number of replicas");
            tokens_.end_line();
        }
        while (tokens_.take_word("repeated")) {
            graph_.repeated.push_back(tokens_.name());
            tokens_.end_line();
        }
        tokens_.expect_word("inputs");
        graph_.inputs = id_list();
        tokens_.end_line();
        tokens_.expect_word("outputs");
        graph_.outputs = id_list();
        tokens_.end_line();
        while (!tokens_.at_end() && tokens_.take_word("state")) parse_state();
        while (!tokens_.at_end() && tokens_.take_word("cache")) parse_cache();
        while (!tokens_.at_end()) parse_line();
        if (const auto fault = find_fault(graph_)) throw ModelError(fmt::format("{}: {}", file_, *fault));
        return std::move(graph_);
    }

private:
    ValueId id() {
        tokens_.expect('%');
        return tokens_.number<ValueId>("the number of a value");
    }
    std::vector<ValueId> id_list() {
        std::vector<ValueId> ids;
        if (tokens_.peek() != '%') return ids;
        do ids.push_back(id());
        while (tokens_.take(','));
        return ids;
    }

    std::uint32_t input_number() { return position_in(graph_.inputs, "an input of the network"); }
    std::uint32_t replacing_output() {
        if (!tokens_.take_word("-") || !tokens_.take('>')) tokens_.fail("it must be ->");
        const std::uint32_t output = position_in(graph_.outputs, "an output of the network");
        tokens_.end_line();
        return output;
    }
    void parse_state() {
        const std::uint32_t input = input_number();
        graph_.state.push_back({.input = input, .output = replacing_output()});
    }
    void parse_cache() {
        std::optional<std::uint32_t> input;
        if (!tokens_.take_word("nothing")) input = input_number();
        graph_.caches.push_back({.input = input, .output = replacing_output()});
    }

    /// The position of the value that stands next in a list.
    std::uint32_t position_in(const std::vector<ValueId>& ids, std::string_view what) {
        tokens_.expect('%');
        const auto number = tokens_.peek_number<ValueId>();
        const auto found = number ? std::ranges::find(ids, *number) : ids.end();
        if (found == ids.end()) tokens_.fail(fmt::format("it must be the number of {}", what));
        tokens_.word("the number of a value");
        return static_cast<std::uint32_t>(found - ids.begin());
    }

    /// Parses a value ("%3 float32 ...") or a node ("%3 = ..." or "%3, %4 = ...").
    void parse_line() {
        if (tokens_.peek() != '%') tokens_.fail("the line must begin with the % of a value");
        std::vector<ValueId> ids = id_list();
        if (tokens_.take('=')) return parse_node(std::move(ids));
        if (ids.size() != 1 || ids.front() != graph_.values.size()) {
            tokens_.fail(fmt::format("the line must be that of value %{}", graph_.values.size()));
        }
        if (!graph_.nodes.empty()) tokens_.fail("values must stand before the nodes");
        parse_value();
    }

    DataType type() {
        const auto found = find_data_type(tokens_.peek_word());
        if (!found) {
            const std::vector<std::string> known(data_type_names.begin(), data_type_names.end());
            tokens_.fail("it must be a number format" + suggestion(tokens_.peek_word(), known));
        }
        tokens_.word("a number format");
        return *found;
    }

    Conversion conversion() {
        const auto found = find_conversion(tokens_.peek_word());
        if (!found) {
            const std::vector<std::string> known(conversion_names.begin(), conversion_names.end());
            tokens_.fail("it must be a conversion" + suggestion(tokens_.peek_word(), known));
        }
        tokens_.word("a conversion");
        return *found;
    }

    Shape shape() {
        if (tokens_.take_word("scalar")) return {};
        std::string_view text = tokens_.peek_word();
        std::vector<std::uint32_t> extents;
        while (true) {
            std::uint32_t extent = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
            if (error != std::errc{} || extents.size() == Shape::most_extents) {
                tokens_.fail("it must be a shape of at most 6 extents, such as 1x28x28x1");
            }
            extents.push_back(extent);
            text.remove_prefix(static_cast<std::size_t>(end - text.data()));
            if (text.empty()) break;
            if (text.front() != 'x') tokens_.fail("it must be a shape, such as 1x28x28x1");
            text.remove_prefix(1);
        }
        tokens_.word("a shape");
        return Shape(extents);
    }

    void parse_value() {
        Value value;
        value.type = type();
        value.shape = shape();
        value.name = tokens_.name();
        if (tokens_.take_word("stored")) value.stored_as = type();
        if (tokens_.take_word("axes")) value.file_axes = numbers<std::uint32_t>();
        if (tokens_.take_word("file")) value.file_type = type();
        if (tokens_.take_word("split")) value.split_axis = tokens_.number<std::uint32_t>("an axis");
        if (tokens_.take_word("range")) {
            const auto minimum = tokens_.number<float>("the least number");
            value.range = Range{minimum, tokens_.number<float>("the greatest number")};
        }
        if (tokens_.take_word("scale")) {
            const auto scale = tokens_.number<double>("a scale");
            tokens_.expect_word("zero");
            value.quantization = Quantization{{scale}, {tokens_.number<std::int32_t>("a zero point")}, {}};
        } else if (tokens_.take_word("axis")) {
            Quantization quantization;
            quantization.axis = tokens_.number<std::uint32_t>("an axis");
            tokens_.expect_word("scales");
            quantization.scales = numbers<double>();
            tokens_.expect_word("zeros");
            quantization.zero_points = numbers<std::int32_t>();
            value.quantization = std::move(quantization);
        }
        if (tokens_.take_word("conversion")) value.conversion = conversion();
        if (tokens_.peek_word() == "shared") {
            if (!is_input(graph_, static_cast<ValueId>(graph_.values.size()))) {
                tokens_.fail("only inputs of the network are stated to be shared");
            }
            value.is_shared = tokens_.take_word("shared");
        }
        if (tokens_.take('=')) value.constant = contents(value);
        tokens_.end_line();
        graph_.values.push_back(std::move(value));
    }

    template <typename Number>
    std::vector<Number> numbers() {
        std::vector<Number> list;
        tokens_.expect('[');
        if (tokens_.take(']')) return list;
        do list.push_back(tokens_.number<Number>("a number of this list"));
        while (tokens_.take(','));
        tokens_.expect(']');
        return list;
    }

    Constant contents(const Value& value) {
        if (tokens_.take_word("unknown")) return {};
        switch (value.type) {
            case DataType::Uint8:
            case DataType::Bool:
                return typed_contents<std::uint8_t>();
            case DataType::Int8:
                return typed_contents<std::int8_t>();
            case DataType::Int16:
                return typed_contents<std::int16_t>();
            case DataType::Uint16:
            case DataType::Bfloat16:
            case DataType::Float16:
                return typed_contents<std::uint16_t>();
            case DataType::Int32:
                return typed_contents<std::int32_t>();
            case DataType::Uint32:
                return typed_contents<std::uint32_t>();
            case DataType::Float32:
                return typed_contents<float>();
        }
        throw std::logic_error("a number format is not read");
    }

    template <typename Number>
    Constant typed_contents() {
        if (tokens_.peek() == '[') return Constant::of(numbers<Number>());
        tokens_.expect_word("bytes");
        const std::string_view digits = tokens_.peek_word();
        if (digits.size() % (2 * sizeof(Number)) != 0)
            tokens_.fail("it must be whole elements in hexadecimal");
        if (digits.empty()) tokens_.fail("it must be bytes in hexadecimal");
        std::vector<Number> values(digits.size() / (2 * sizeof(Number)));
        if (!read_hexadecimal(digits, reinterpret_cast<std::uint8_t*>(values.data())))
            tokens_.fail("it must be bytes in hexadecimal, two digits each");
        tokens_.skip(digits);
        return Constant::of(std::move(values));
    }

    void parse_node(std::vector<ValueId> outputs) {
        Node node;
        node.outputs = std::move(outputs);
        node.op = operators_.find(tokens_.peek_word());
        if (node.op == nullptr) {
            tokens_.fail("there is no operator of this name" +
                         suggestion(tokens_.peek_word(), names_of(operators_.all())));
        }
        tokens_.word("an operator");
        tokens_.expect('(');
        node.inputs = id_list();
        if (tokens_.take(';')) {
            node.stated_data = static_cast<std::uint32_t>(node.inputs.size());
            const std::vector<ValueId> parameters = id_list();
            node.inputs.insert(node.inputs.end(), parameters.begin(), parameters.end());
        }
        tokens_.expect(')');
        node.name = tokens_.name();
        std::vector<NamedAttribute> given;
        if (tokens_.take('{')) {
            do given.push_back(parse_attribute(*node.op));
            while (tokens_.take(','));
            tokens_.expect('}');
        }
        try {
            node.attributes = complete_attributes(*node.op, std::move(given));
        } catch (const ModelError& error) {
            tokens_.fail(error.what());
        }
        tokens_.end_line();
        share_results(node);
        graph_.nodes.push_back(std::move(node));
    }

    /// Marks the results that all inferences share. Values that are not there are a fault that is found
    /// later.
    void share_results(const Node& node) {
        const auto is_there = [&](ValueId id) { return id < graph_.values.size(); };
        if (!std::ranges::all_of(node.inputs, is_there) || !std::ranges::all_of(node.outputs, is_there))
            return;
        const bool is_shared = makes_shared(NodeView(graph_, node));
        for (const ValueId id : node.outputs) graph_.values[id].is_shared = is_shared;
    }

    NamedAttribute parse_attribute(const Operator& op) {
        const std::string_view name = tokens_.peek_word();
        for (const AttributeDeclaration& declaration : op.attributes()) {
            if (declaration.former && declaration.former->name == name) return former_attribute(declaration);
            if (declaration.name != name) continue;
            tokens_.word("an attribute");
            return {declaration.name,
                    std::visit([&](const auto& absent) { return value_like(absent); }, declaration.absent)};
        }
        std::vector<std::string> known;
        for (const AttributeDeclaration& declaration : op.attributes()) known.emplace_back(declaration.name);
        tokens_.fail(fmt::format("it must be an attribute of {}{}", op.name(), suggestion(name, known)));
    }

    NamedAttribute former_attribute(const AttributeDeclaration& declaration) {
        tokens_.word("an attribute");
        const std::vector<Attribute>& values = declaration.former->values;
        const auto index = tokens_.peek_number<std::size_t>();
        if (!index || *index >= values.size()) {
            tokens_.fail(fmt::format("it must be an integer from 0 to {}", values.size() - 1));
        }
        tokens_.word("an integer");
        return {declaration.name, values[*index]};
    }

    Attribute value_like(std::int64_t) { return tokens_.number<std::int64_t>("an integer"); }
    Attribute value_like(double) { return tokens_.number<double>("a number"); }
    Attribute value_like(const std::string&) { return tokens_.name(); }
    Attribute value_like(const std::vector<std::int64_t>&) { return numbers<std::int64_t>(); }
    Attribute value_like(const std::vector<double>&) { return numbers<double>(); }
    Attribute value_like(const std::vector<std::string>&) {
        std::vector<std::string> list;
        tokens_.expect('[');
        if (tokens_.take(']')) return list;
        do list.push_back(tokens_.name());
        while (tokens_.take(','));
        tokens_.expect(']');
        return list;
    }

    Tokens tokens_;
    std::string_view file_;
    const OperatorSet& operators_;
    Graph graph_;
};

}  // namespace

bool is_graph_text(std::string_view head) {
    return head.starts_with(first_word);
}

Graph parse_graph(std::string_view text, std::string_view file, const OperatorSet& operators) {
    return Parser(text, file, operators).parse();
}

}  // namespace systole::ir
