#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// Figures that were published about real chips: configs/published/*.json, schema sim.published/1.
///
/// A section is a table or figure of a publication: its "source", its "confidence" ("seen" where it is
/// printed, "digitized" where it is read off a figure, "derived" where it is computed from printed numbers),
/// and numbers, also in objects inside it. Keys have letters, digits and _ alone, because formulas name
/// numbers by their path
/// ("table_3.useful_macs.MLP0"). Numbers are not negative; one whose path has the word "percent" is at most
/// 100.
namespace systole::validate {

struct Published {
    std::string name;
    std::string title;
    std::map<std::string, double, std::less<>> numbers;  ///< by path
    std::map<std::string, std::string> hosts;            ///< by section: the computers of its measurements

    /// Throws std::logic_error if there is no such number.
    double at(std::string_view path) const;
};

/// From JSON; `file` leads the messages. Throws ConfigError.
Published read_published(const nlohmann::json& object, const std::string& file);
Published read_published(const std::filesystem::path& path);

}  // namespace systole::validate
