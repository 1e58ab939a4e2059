#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/keras/hdf5_file.h"

namespace systole::frontend {

/// The groups and datasets of a file by paths with "/". Keras on Windows has written names with the separator
/// of Windows in them: its group "layers\\dense" is "layers/dense" here.
class NamesInFile {
public:
    /// The file must outlive this object.
    explicit NamesInFile(const Hdf5File& file) : file_(file) {}

    /// The names of what is in a group; none if there is no such group.
    std::vector<std::string> children(const std::string& path) const;
    /// The name of a dataset in the file; nullopt if there is none.
    std::optional<std::string> dataset(const std::string& path) const;

private:
    /// What a group has under names with this beginning.
    struct Place {
        std::string group;
        std::string beginning;  ///< "" or a text that ends with the other separator
    };

    const std::vector<Place>& places_of(const std::string& path) const;
    /// In alphabetical order.
    const std::vector<std::string>& names_in(const std::string& group) const;

    const Hdf5File& file_;
    mutable std::map<std::string, std::vector<Place>> places_;       ///< by path
    mutable std::map<std::string, std::vector<std::string>> names_;  ///< by group of the file
};

}  // namespace systole::frontend
