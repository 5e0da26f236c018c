// Starts `millstream lsp` and lets it speak with the editor.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async function () {
  const command = workspace.getConfiguration("millstream").get("path", "millstream");
  client = new LanguageClient(
    "millstream",
    "Millstream",
    { command, args: ["lsp"] },
    // Rust files of a pipeline are read when they are saved: the server asks to be told.
    { documentSelector: [{ language: "flow" }] },
  );
  await client.start();
};

exports.deactivate = function () {
  return client?.stop();
};
