-- For pandoc: the title of docs/configuration.md becomes the section NAME that a manual page begins with.
function Header(node)
  if node.level > 1 then
    return node
  end
  return {pandoc.Header(1, "NAME"), pandoc.Para("urnic-configuration - devices, addresses, links and limits of a device process"),
          pandoc.Header(1, "DESCRIPTION")}
end
