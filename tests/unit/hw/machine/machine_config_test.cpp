#include "hw/machine/machine_config.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "tests/support/source_dir.h"
#include "tests/unit/hw/machine/machine_files.h"

using namespace systole;
using namespace systole::machine;
using Catch::Matchers::Contains;
using nlohmann::json;
using systole::tests::machine_error;
using systole::tests::shipped_machine;

namespace {

json tpu_v1() {
    return read_json_object(shipped_machine("tpu_v1.json"));
}

/// Visits every leaf below an object, by dotted key.
void each_leaf(const json& object, const std::string& path,
               const std::function<void(const std::string&, const json&)>& visit) {
    for (const auto& [key, value] : object.items()) {
        const std::string place = path.empty() ? key : path + "." + key;
        if (value.is_object()) {
            each_leaf(value, place, visit);
        } else {
            visit(place, value);
        }
    }
}

}  // namespace

TEST_CASE("TPU v1 has the published numbers", "[machine]") {
    const MachineConfig machine = read_machine(shipped_machine("tpu_v1.json"));
    CHECK(machine.tile_bytes() == 64 * 1024);
    CHECK(machine.unified_buffer_bytes() == 24 * 1024 * 1024);
    CHECK(machine.peak_ops_per_second() == Approx(91.75e12).epsilon(1e-3));
    // 32.625 GB/s: between the 30 GiB/s of Figure 1 and the 34 GB/s of Table 2.
    CHECK(machine.weight_rate() == Rate{1305, 28});
}

TEST_CASE("Latencies in nanoseconds take whole cycles of the clock, beside those in cycles", "[machine]") {
    struct Case {
        double clock_mhz, ns;
        std::uint64_t cycles;
    };
    const auto c = GENERATE(Case{700, 0, 0}, Case{700, 10, 7}, Case{700, 10.001, 8}, Case{700, 9.999, 7},
                            Case{175, 10, 2}, Case{1000, 1, 1}, Case{1000, 1.001, 2}, Case{333.3, 3, 1},
                            Case{333.3, 3.001, 2}, Case{2800, 1e6, 2'800'000});
    CAPTURE(c.clock_mhz, c.ns);
    MachineConfig machine;
    machine.clock_mhz = c.clock_mhz;
    machine.activation_unit = {.latency_cycles = 5, .latency_ns = c.ns};
    CHECK(machine.activation_latency() == 5 + c.cycles);
    CHECK(machine.host_latency() == 0);
    machine.host_interface.latency_cycles = 3;
    machine.host_interface.latency_ns = c.ns;
    CHECK(machine.host_latency() == 3 + c.cycles);
}

TEST_CASE("Every number of a shipped machine names its source", "[machine]") {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(tests::source_dir()) + "/configs/machines")) {
        json machine = read_json_object(entry.path());
        const json sources = machine.at("sources");
        machine.erase("sources");
        each_leaf(machine, "", [&](const std::string& key, const json&) {
            if (key == "schema" || key == "name" || key == "family") return;
            CAPTURE(entry.path().string(), key);
            CHECK(sources.contains(key));
        });
    }
}

TEST_CASE("The effective configuration reads back as the same machine", "[machine]") {
    json changed = tpu_v1();
    changed["clock_mhz"] = 1050.5;
    changed["matrix_unit"]["columns"] = 19;
    const MachineConfig machine = read_machine(changed, "test.json");
    const json written = json::parse(to_json(machine).dump());
    CHECK(written == json::parse(to_json(read_machine(written, "again.json")).dump()));
    CHECK(written.at("clock_mhz") == 1050.5);
    CHECK(written.at("matrix_unit").at("columns") == 19);
}

TEST_CASE("A machine may leave energies out or give those of the table", "[machine]") {
    json changed = tpu_v1();
    CHECK(read_machine(changed, "test.json").energy->process_nm == 28.0);
    CHECK_FALSE(read_machine(changed, "test.json").energy->mac_pj);
    CHECK_FALSE(to_json(read_machine(changed, "test.json")).at("energy").contains("mac_pj"));
    changed["energy"]["mac_pj"] = 0.5;
    CHECK(read_machine(changed, "test.json").energy->mac_pj == 0.5);
    CHECK(to_json(read_machine(changed, "test.json")).at("energy").at("mac_pj") == 0.5);

    changed.erase("energy");
    json& sources = changed["sources"];
    for (auto source = sources.begin(); source != sources.end();) {
        source = source.key().starts_with("energy.") ? sources.erase(source) : std::next(source);
    }
    CHECK_FALSE(read_machine(changed, "test.json").energy);
    CHECK_FALSE(to_json(read_machine(changed, "test.json")).contains("energy"));
}

TEST_CASE("A machine may leave out the host's time", "[machine]") {
    json changed = tpu_v1();
    const MachineConfig machine = read_machine(changed, "test.json");
    CHECK(machine.server.host_percent->typical == 25.0);
    CHECK(machine.server.host_percent->least == 11.0);
    CHECK(machine.server.host_percent->most == 76.0);
    json& host = changed["server"]["host_percent"];
    for (const double end : {11.0, 76.0}) {
        host["typical"] = end;
        CHECK(read_machine(changed, "test.json").server.host_percent->typical == end);
    }
    for (const double outside : {10.99, 76.01}) {
        host["typical"] = outside;
        CHECK_THAT(machine_error(changed), Contains("test.json: server.host_percent.typical is 1") ||
                                               Contains("test.json: server.host_percent.typical is 76.01"));
        CHECK_THAT(
            machine_error(changed),
            Contains("it must be from server.host_percent.least to server.host_percent.most: 11 to 76"));
    }
    host = {{"typical", 25}, {"least", 11}};
    CHECK_THAT(machine_error(changed), Contains("server.host_percent.most is missing; it is needed"));

    changed["server"].erase("host_percent");
    CHECK_THAT(machine_error(changed), Contains("server.host_percent.") && Contains("no such key"));
    json& sources = changed["sources"];
    for (const char* const key : {"typical", "least", "most"}) {
        sources.erase(std::string("server.host_percent.") + key);
    }
    CHECK_FALSE(read_machine(changed, "test.json").server.host_percent);
    CHECK_FALSE(to_json(read_machine(changed, "test.json")).at("server").contains("host_percent"));
}

TEST_CASE("An unknown key is an error that suggests the nearest known one", "[machine]") {
    json machine = tpu_v1();
    machine["weight_fifo"]["depth"] = 8;
    CHECK_THAT(machine_error(machine),
               Contains("test.json: weight_fifo.depth is 8") && Contains("depth_tiles"));
    machine = tpu_v1();
    machine["clok_mhz"] = 1;
    CHECK_THAT(machine_error(machine), Contains("clok_mhz") && Contains("did you mean \"clock_mhz\""));
    machine = tpu_v1();
    machine["clok"] = 1;
    CHECK_THAT(machine_error(machine), Contains("did you mean \"clock_mhz\""));
    machine = tpu_v1();
    machine["frobnication"] = 1;
    CHECK_THAT(machine_error(machine), !Contains("did you mean"));
    machine = tpu_v1();
    machine["sources"]["weight_fifo.depth"] = "somewhere";
    CHECK_THAT(machine_error(machine), Contains("weight_fifo.depth") && Contains("no such key"));
}

TEST_CASE("Values of the wrong type or out of range are errors with key, value and rule", "[machine]") {
    struct Case {
        const char* pointer;
        json value;
        const char* message;
    };
    const Case wrong = GENERATE(
        Case{"/weight_fifo/depth_tiles", 0, "weight_fifo.depth_tiles is 0; it must be a whole number from 1"},
        Case{"/weight_fifo/depth_tiles", -1, "is -1;"}, Case{"/weight_fifo/depth_tiles", 2.7, "is 2.7;"},
        Case{"/weight_fifo/depth_tiles", "4", "is \"4\";"},
        Case{"/weight_fifo/depth_tiles", nullptr, "is null;"},
        Case{"/matrix_unit/rows", 0, "matrix_unit.rows is 0"},
        Case{"/matrix_unit/rows", 99999, "matrix_unit.rows is 99999"},
        Case{"/matrix_unit/engine", "fast", "must be one of \"wavefront\", \"pe\""},
        Case{"/matrix_unit", 3, "matrix_unit is 3; an object is needed"},
        Case{"/clock_mhz", 0, "clock_mhz is 0"}, Case{"/clock_mhz", -7.5, "clock_mhz is -7.5"},
        Case{"/accumulators/banks", 3, "must divide accumulators.rows"},
        Case{"/power/busy_watts", 1, "power.busy_watts is 1; it must be at least power.idle_watts"},
        Case{"/power/busy_watts", 76, "power.busy_watts is 76; it must be at most power.tdp_watts"},
        Case{"/power/idle_watts", 0, "power.idle_watts is 0; beside a section energy"},
        Case{"/energy/process_nm", 5, "energy.process_nm is 5; it must be a number from 7 to 45 nm"},
        Case{"/energy/unused_mac_fraction", 1.5, "energy.unused_mac_fraction is 1.5; it must be a number"},
        Case{"/energy/mac_pj", -1, "energy.mac_pj is -1; it must be a number from 0"},
        Case{"/energy/mac_pj", nullptr, "energy.mac_pj is null; it must be a number"},
        Case{"/energy/mac", 1, "energy.mac is 1; it is not a known key"},
        Case{"/energy", 7, "energy is 7; an object is needed"},
        Case{"/weight_memory/bytes", 65535, "one tile of the array takes 65536"},
        Case{"/schema", "sim.run/1", "it must be \"sim.machine/1\""});
    json machine = tpu_v1();
    machine[json::json_pointer(wrong.pointer)] = wrong.value;
    CHECK_THAT(machine_error(machine), Contains(wrong.message) && Contains("test.json: "));
}

TEST_CASE("Engine pe refuses an array of more than 2^28 registers, and only it does", "[machine]") {
    json machine = tpu_v1();
    // 65536 cells of 2 m + 5, and what feeds and drains them.
    const auto registers = [](std::uint64_t m) {
        return 65536 * (2 * m + 5) + (1 + 256 * m) * 256 + (1 + 256) * 256 + 256;
    };
    std::uint64_t most = 1;
    while (registers(most + 1) <= std::uint64_t{1} << 28U) ++most;
    machine["matrix_unit"]["engine"] = "pe";
    machine["matrix_unit"]["mac_latency_cycles"] = most;
    CHECK_NOTHROW(read_machine(machine, "test.json"));
    machine["matrix_unit"]["mac_latency_cycles"] = most + 1;
    CHECK_THAT(machine_error(machine), Contains("matrix_unit.engine is \"pe\"; this array has " +
                                                std::to_string(registers(most + 1)) + " registers"));
    machine["matrix_unit"]["engine"] = "wavefront";
    CHECK_NOTHROW(read_machine(machine, "test.json"));
}

TEST_CASE("A machine multiplies the number formats that it lists, in its passes", "[machine]") {
    json file = tpu_v1();
    const MachineConfig usual = read_machine(file, "test.json");
    CHECK(usual.matrix_unit.passes(DataType::Uint8, DataType::Int8) == 1);
    CHECK(usual.matrix_unit.passes(DataType::Int16, DataType::Int8) == 2);
    CHECK(usual.matrix_unit.passes(DataType::Uint8, DataType::Int16) == 2);
    CHECK(usual.matrix_unit.passes(DataType::Uint16, DataType::Int16) == 4);
    CHECK_FALSE(usual.matrix_unit.passes(DataType::Bfloat16, DataType::Bfloat16));

    file["matrix_unit"]["formats"] = json::parse(R"([{"activations": "uint8", "weights": "int8", "passes": 3},
        {"activations": "int16", "weights": "int8", "accumulators": "int32"}])");
    const MachineConfig machine = read_machine(file, "test.json");
    CHECK(machine.matrix_unit.passes(DataType::Uint8, DataType::Int8) == 3);
    CHECK(machine.matrix_unit.passes(DataType::Int16, DataType::Int8) == 1);
    CHECK(
        machine.matrix_unit.refusal(DataType::Int8, DataType::Int8) ==
        "activations is int8 and weights is int8; the machine's array multiplies uint8 x int8, int16 x int8");
    const json written = json::parse(to_json(machine).dump());
    CHECK(
        written["matrix_unit"]["formats"][0] ==
        json::parse(R"({"activations": "uint8", "weights": "int8", "accumulators": "int32", "passes": 3})"));
    CHECK(read_machine(written, "again.json").matrix_unit.formats == machine.matrix_unit.formats);

    // A byte a pass, or the registers of engine pe could not hold it.
    file["matrix_unit"]["engine"] = "pe";
    CHECK(machine_error(file) ==
          "test.json: matrix_unit.formats[1] is int16 x int8 into int32; its passes are "
          "1; the cells of engine \"pe\" multiply bytes and need 2");
}

TEST_CASE("An array computes integers or floats, not both", "[machine]") {
    MachineConfig machine;
    CHECK_FALSE(machine.matrix_unit.computes_floats());
    machine.matrix_unit.formats = {{.activations = DataType::Bfloat16,
                                    .weights = DataType::Bfloat16,
                                    .accumulators = DataType::Float32}};
    CHECK(machine.matrix_unit.computes_floats());
    machine.matrix_unit.engine = systole::machine::Engine::Pe;
    CHECK(machine.no_cells_reason() == "the machine's array computes floats, which are not shown");
    machine.matrix_unit.formats.push_back({});
    CHECK_THROWS_AS(machine.matrix_unit.computes_floats(), std::logic_error);
}

TEST_CASE("Formats that the datapath has not, and those listed twice, are errors", "[machine]") {
    const auto error_with = [](const std::string& formats) {
        json file = tpu_v1();
        file["matrix_unit"]["formats"] = json::parse(formats);
        return machine_error(file);
    };
    CHECK_THAT(
        error_with(R"([{"activations": "bfloat16", "weights": "bfloat16"}])"),
        Contains("matrix_unit.formats[0] is bfloat16 x bfloat16 into int32; each pair of operands once; "
                 "the datapath has"));
    CHECK_THAT(error_with(R"([{"activations": "int8", "weights": "int8", "accumulators": "float32"}])"),
               Contains("int8 x int8 into float32"));
    CHECK_THAT(error_with(R"([{"activations": "int8", "weights": "int8"},
                              {"activations": "int8", "weights": "int8", "passes": 2}])"),
               Contains("matrix_unit.formats[1] is int8 x int8 into int32; entry 0 has these operands"));
    CHECK_THAT(error_with("[]"), Contains("matrix_unit.formats is []; it must have an entry"));
    CHECK_THAT(error_with("{}"), Contains("it must be a list of objects"));
    CHECK_THAT(error_with("[7]"), Contains("matrix_unit.formats[0] is 7; an object is needed"));
    CHECK_THAT(error_with(R"([{"activations": "int8"}])"), Contains("weights"));
    CHECK_THAT(error_with(R"([{"activations": "int8", "weights": "int8", "bits": 8}])"),
               Contains("matrix_unit.formats[0].bits is 8; it is not a known key"));
    CHECK_THAT(error_with(R"([{"activations": "int4", "weights": "int8"}])"), Contains("must be one of"));
}

TEST_CASE("Files that are missing, empty, no JSON or hostile are errors in one line", "[machine]") {
    const auto folder = std::filesystem::temp_directory_path() / "systole_machine_config_test";
    std::filesystem::create_directories(folder);
    const auto path = folder / "machine.json";
    const auto error_of_text = [&](const std::string& text) {
        std::ofstream(path) << text;
        try {
            read_machine(path);
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[]"), std::string("{\"a\":\n\n}"),
          std::string(100000, '['), std::string("{\"name\": \"\xff\xfe\"}"),
          std::string("{\"clock_mhz\": 1e999}")}) {
        const std::string message = error_of_text(text);
        CAPTURE(message);
        CHECK_THAT(message, Contains("machine.json: "));
        CHECK(message.find('\n') == std::string::npos);
    }
    std::filesystem::remove_all(folder);
    CHECK_THROWS_WITH(read_machine(path), Contains("there is no such file"));
    CHECK_THROWS_WITH(read_machine(folder.parent_path()), Contains("is a directory"));
}

TEST_CASE("A core of the Cloud TPU v2 has the published numbers", "[machine]") {
    const MachineConfig machine = read_machine(shipped_machine("tpu_v2_1core.json"));
    CHECK(machine.peak_ops_per_second() == Approx(22.9e12).epsilon(2e-3));  // half of a chip's 45.9
    CHECK(machine.hbm_rate() == Rate{857, 2});                              // bytes a cycle: 0.857 of 500
    CHECK(machine.vector_row_bytes() * machine.vector_memory.rows == 16 * 1024 * 1024);
    CHECK(machine.matrix_unit.formats == float_array_formats());
    CHECK(machine.matrix_unit.computes_floats());
    // Half a chip; the watts of a busy one are not known.
    CHECK(machine.power.tdp_watts == 280.0 / 2);
    CHECK(machine.power.idle_watts == 53.0 / 2);
    CHECK(machine.power.busy_watts == 0.0);
    CHECK(machine.server.tdp_watts - machine.server.host_tdp_watts == machine.server.dies * 140.0);
}

TEST_CASE("The array of a tensor core says how much of float32 it multiplies", "[machine]") {
    json object{{"schema", "sim.machine/1"}, {"family", "tensor_core"}};
    object["matrix_unit"] = {{"rows", 128}, {"columns", 128}};
    CHECK(read_machine(object, "test").matrix_unit.precision == MatrixPrecision::Default);
    object["matrix_unit"]["precision"] = "highest";
    const MachineConfig machine = read_machine(object, "test");
    CHECK(machine.matrix_unit.precision == MatrixPrecision::Highest);
    CHECK(machine.computes_floats());
    CHECK(read_machine(to_json(machine), "test").matrix_unit.precision == MatrixPrecision::Highest);
}

TEST_CASE("A tensor core is refused with the rule that it breaks", "[machine]") {
    const auto error_of = [](const json& change) {
        json object{{"schema", "sim.machine/1"}, {"family", "tensor_core"}};
        object.merge_patch(change);
        return machine_error(object);
    };
    const json bytes = {{"activations", "int8"}, {"weights", "int8"}};
    CHECK_THAT(error_of({{"matrix_unit", {{"columns", 256}}}}),
               Contains("matrix_unit.columns is 256; it must be at most vector_unit.lanes, 128"));
    CHECK_THAT(
        error_of({{"matrix_unit", {{"rows", 128}, {"columns", 128}, {"formats", json::array({bytes})}}}}),
        Contains("matrix_unit.formats has others than its default"));
    CHECK_THAT(error_of({{"matrix_unit", {{"rows", 128}, {"columns", 128}, {"row_sums", false}}}}),
               Contains(R"(matrix_unit.row_sums is false; it is read only where family is "tpu_v1")"));
    const json array = {{"rows", 128}, {"columns", 128}};
    CHECK_THAT(error_of({{"matrix_unit", array}, {"hbm", {{"bytes", 1000}}}}),
               Contains("hbm.bytes is 1000; it must be a multiple of a row"));
    CHECK_THAT(error_of({{"matrix_unit", array}, {"system", {{"cores", 2}}}, {"hbm", {{"bytes", 512 * 3}}}}),
               Contains("hbm.bytes is 1536; it must be a multiple of a row for each core"));
    CHECK_THAT(error_of({{"matrix_unit", array}, {"system", {{"chips", 5}, {"cores", 2}}}}),
               Contains("system.cores is 2; 5 chips have 10 cores; a machine has at most 8"));
    CHECK_THAT(error_of({{"matrix_unit", array}, {"accumulators", {{"rows", 8}}}}),
               Contains(R"(it is read only where family is "tpu_v1")"));
    CHECK_THAT(
        error_of({{"matrix_unit", {{"rows", 128}, {"columns", 128}, {"precision", "whole"}}}}),
        Contains(R"(matrix_unit.precision is "whole"; it must be one of "default", "high", "highest")"));
    json of_bytes = tpu_v1();
    of_bytes["matrix_unit"]["precision"] = "high";
    CHECK_THAT(machine_error(of_bytes), Contains(R"(it is read only where family is "tensor_core")"));
    json of_tpu_v1 = tpu_v1();
    of_tpu_v1["hbm"] = {{"bytes", 1024}};
    CHECK_THAT(machine_error(of_tpu_v1), Contains(R"(it is read only where family is "tensor_core")"));
}
