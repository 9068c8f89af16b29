"""The contract type of ``.importlinter`` by which private modules stay in their room."""

from importlinter import Contract, ContractCheck, fields, output


class PrivateModulesContract(Contract):
    """Forbid imports of a module whose path holds ``_name`` from outside its room.

    A room is a child of the root package. Private children of the root itself (``_core``,
    ``_typing``) belong to everybody.
    """

    type_name = "private_modules"

    root = fields.StringField()

    def check(self, graph, verbose):
        broken = []
        for importer in sorted(graph.modules):
            for imported in sorted(graph.find_modules_directly_imported_by(importer)):
                if _is_private(imported, self.root) and _room(imported) != _room(importer):
                    lines = graph.get_import_details(importer=importer, imported=imported)
                    broken.append((importer, imported, [one["line_number"] for one in lines]))
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check):
        for importer, imported, lines in check.metadata["broken"]:
            output.print_error(f"{importer} (l.{lines}) imports {imported}", bold=False)


def _room(module):
    return module.split(".")[1] if "." in module else module


def _is_private(module, root):
    inside = module.removeprefix(f"{root}.").split(".")[1:]
    return any(part.startswith("_") for part in inside)
