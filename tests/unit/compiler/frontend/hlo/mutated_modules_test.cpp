// Modules of JAX with some fields changed at random: each is refused in one line, or holds what a module
// promises, and becomes a valid graph or is refused as a program in one line.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/operators/operator.h"
#include "tests/support/files.h"
#include "tests/support/hlo_promises.h"
#include "tests/support/random_runs.h"
#include "tests/support/source_dir.h"
#include "tests/unit/compiler/frontend/hlo/hlo_builder.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// Changes fields of a message at random.
class FieldMutator {
public:
    explicit FieldMutator(std::uint64_t seed) : random_(seed) {}

    /// Changes a field of the message or of one inside of it.
    void change(Message& message) {
        std::vector<const FieldDescriptor*> fields;
        message.GetReflection()->ListFields(message, &fields);
        // Sometimes one that is not set.
        if (fields.empty() || below(8) == 0) {
            fields.clear();
            for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
                fields.push_back(message.GetDescriptor()->field(i));
            }
        }
        const FieldDescriptor& field = *fields[below(fields.size())];
        if (field.is_map()) return;
        if (field.is_repeated()) return change_repeated(message, field);
        if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
            if (below(16) == 0) return message.GetReflection()->ClearField(&message, &field);
            return change(*message.GetReflection()->MutableMessage(&message, &field));
        }
        set(message, field);
    }

private:
    void change_repeated(Message& message, const FieldDescriptor& field) {
        const auto& reflection = *message.GetReflection();
        const auto size = static_cast<std::size_t>(reflection.FieldSize(message, &field));
        const bool has_messages = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
        if (size == 0 || below(10) == 0) {
            if (has_messages) {
                Message& made = *reflection.AddMessage(&message, &field);
                if (size != 0) {
                    made.CopyFrom(
                        reflection.GetRepeatedMessage(message, &field, static_cast<int>(below(size))));
                }
            } else {
                add(message, field);
            }
            return;
        }
        const auto one = static_cast<int>(below(size));
        switch (below(has_messages ? 12 : 4)) {
            case 0:
                return reflection.RemoveLast(&message, &field);
            case 1:
                return reflection.SwapElements(&message, &field, one, static_cast<int>(below(size)));
            default:
                break;
        }
        if (has_messages) return change(*reflection.MutableRepeatedMessage(&message, &field, one));
        set_repeated(message, field, one);
    }

    std::int64_t number(std::int64_t old) {
        constexpr std::array<std::int64_t, 9> extremes{0,         -1,        1,         64,       65536,
                                                       1LL << 28, 1LL << 31, 1LL << 32, 1LL << 62};
        switch (below(4)) {
            case 0:
                return extremes.at(below(extremes.size()));
            case 1:
                return static_cast<std::int64_t>(random_());
            case 2:
                return old < 1000 ? static_cast<std::int64_t>(below(20))
                                  : old + static_cast<std::int64_t>(below(7)) - 3;
            default:
                return old + (below(2) == 0 ? 1 : -1);
        }
    }

    std::string text(const std::string& old) {
        if (below(2) == 0) {
            const auto opcode = static_cast<hlo::Opcode>(below(hlo::opcode_count));
            return std::string(hlo::traits_of(opcode).name);
        }
        std::string changed = old + "x";
        changed[below(changed.size())] = static_cast<char>(below(256));
        changed.resize(below(changed.size() + 1));
        return changed;
    }

    void set(Message& message, const FieldDescriptor& field) {
        const auto& reflection = *message.GetReflection();
        switch (field.cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                return reflection.SetInt32(
                    &message, &field,
                    static_cast<std::int32_t>(number(reflection.GetInt32(message, &field))));
            case FieldDescriptor::CPPTYPE_INT64:
                return reflection.SetInt64(&message, &field, number(reflection.GetInt64(message, &field)));
            case FieldDescriptor::CPPTYPE_BOOL:
                return reflection.SetBool(&message, &field, below(2) == 0);
            case FieldDescriptor::CPPTYPE_FLOAT:
                return reflection.SetFloat(&message, &field, static_cast<float>(below(100)));
            case FieldDescriptor::CPPTYPE_STRING:
                return reflection.SetString(&message, &field, text(reflection.GetString(message, &field)));
            default:
                return;
        }
    }

    void set_repeated(Message& message, const FieldDescriptor& field, int i) {
        const auto& reflection = *message.GetReflection();
        switch (field.cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                return reflection.SetRepeatedInt32(
                    &message, &field, i,
                    static_cast<std::int32_t>(number(reflection.GetRepeatedInt32(message, &field, i))));
            case FieldDescriptor::CPPTYPE_INT64:
                return reflection.SetRepeatedInt64(&message, &field, i,
                                                   number(reflection.GetRepeatedInt64(message, &field, i)));
            case FieldDescriptor::CPPTYPE_BOOL:
                return reflection.SetRepeatedBool(&message, &field, i, below(2) == 0);
            case FieldDescriptor::CPPTYPE_STRING:
                return reflection.SetRepeatedString(&message, &field, i,
                                                    text(reflection.GetRepeatedString(message, &field, i)));
            default:
                return;
        }
    }

    void add(Message& message, const FieldDescriptor& field) {
        const auto& reflection = *message.GetReflection();
        switch (field.cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                return reflection.AddInt32(&message, &field, static_cast<std::int32_t>(number(0)));
            case FieldDescriptor::CPPTYPE_INT64:
                return reflection.AddInt64(&message, &field, number(0));
            case FieldDescriptor::CPPTYPE_BOOL:
                return reflection.AddBool(&message, &field, below(2) == 0);
            case FieldDescriptor::CPPTYPE_STRING:
                return reflection.AddString(&message, &field, text(""));
            default:
                return;
        }
    }

    std::size_t below(std::size_t end) { return random_() % end; }

    std::mt19937_64 random_;
};

/// Whether a module becomes a graph, which must be a valid one.
bool becomes_graph(const hlo::Module& module) {
    try {
        const ir::Graph graph = hlo::to_graph(module, operators::registry());
        CHECK(ir::find_fault(graph) == std::nullopt);
        return true;
    } catch (const ModelError& error) {
        const std::string fault = error.what();
        CHECK(!fault.empty());
        CHECK(fault.find('\n') == std::string::npos);
        return false;
    }
}

TEST_CASE("Modules with changed fields are refused in one line, or are whole", "[hlo][random]") {
    std::map<fs::path, std::string> files;  // by name: the order must not depend on the file system
    for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "tests/golden/hlo")) {
        if (entry.path().extension() == ".hlo") files[entry.path()] = text_in(entry.path());
    }
    REQUIRE(!files.empty());
    std::uint32_t refused = 0;
    std::uint32_t read = 0;
    std::uint32_t mapped = 0;
    std::set<std::string> rules;
    const std::uint32_t seeds = random_runs(8000);
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        const auto& [path, bytes] =
            *std::next(files.begin(), seed % static_cast<std::uint32_t>(files.size()));
        INFO("seed " << seed << " on " << path);
        hlo_proto::HloModuleProto proto;
        REQUIRE(proto.ParseFromString(bytes));
        FieldMutator mutator(seed);
        for (std::uint32_t i = 0; i <= seed % 3; ++i) mutator.change(proto);
        std::string fault;
        try {
            const hlo::Module module = hlo::parse_module(proto.SerializeAsString());
            CHECK(broken_promise(module) == "");
            REQUIRE(!to_text(module).empty());
            ++read;
            mapped += becomes_graph(module) ? 1 : 0;
        } catch (const ModelError& error) {
            fault = error.what();
            CHECK(!fault.empty());
            CHECK(fault.find('\n') == std::string::npos);
            CHECK(fault.size() < 20000);
            // A value and the rule that it breaks, unless protobuf has refused the bytes.
            INFO(fault);
            const bool is_damaged = fault == "it is damaged: it is no serialized HloModuleProto";
            CHECK((is_damaged || fault.find("; ") != std::string::npos));
            ++refused;
            // A rule without the numbers of the case.
            std::string rule = fault.substr(fault.rfind(": ") == std::string::npos ? 0 : fault.rfind(": "));
            std::erase_if(rule, [](char c) { return (c >= '0' && c <= '9') || c == '-' || c == ','; });
            rules.insert(rule);
        }
    }
    CHECK(refused >= random_share(4000));
    CHECK(read >= random_share(500));
    CHECK(mapped >= random_share(200));
    CHECK(rules.size() >= std::min(random_share(100), 100U));  // there are not many more
}

}  // namespace
}  // namespace systole::tests
