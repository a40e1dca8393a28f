-- For pandoc: turns the tables of a document into lists, which a terminal of 80 columns has room for. The first cell of
-- a row is the entry; the others follow as "heading: text". Links become their text.
function Table(node)
  local simple = pandoc.utils.to_simple_table(node)
  local entries = {}
  for _, row in ipairs(simple.rows) do
    local said = {}
    for column = 2, #row do
      local text = pandoc.utils.blocks_to_inlines(row[column])
      if #text > 0 then
        if #row > 2 and column < #row then
          text = pandoc.List({pandoc.Emph(pandoc.utils.blocks_to_inlines(simple.headers[column])), pandoc.Str(":"),
                              pandoc.Space()}) .. text
        end
        table.insert(said, pandoc.Para(text))
      end
    end
    table.insert(entries, {pandoc.utils.blocks_to_inlines(row[1]), {said}})
  end
  return pandoc.DefinitionList(entries)
end

function Link(node)
  return node.content
end
