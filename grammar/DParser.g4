// D's grammar. The compiler parses item by item (compiler/parse/parse.h), so that an error in one does not hide those in others.
// No parse tree is built, since its nodes took most of the time: what the compiler needs of a rule has a label.
parser grammar DParser;

options { tokenVocab = DLexer; }

item
    : c=clause
    | i=inlineDefinition
    | t=translatorDefinition
    | p=providerDefinition
    | d=declaration
    | SEMI
    ;

// --- Clauses

clause          : probes+=(PROBE | INTEGER) (COMMA probes+=(PROBE | INTEGER))*
                  (open=SLASH predicate=expression close=SLASH)? (body=LBRACE actions=statements RBRACE)?;
statements      : list+=statement (SEMI list+=statement)*;
statement       : conditions+=ifStatement* value=expression?;
ifStatement     : IF LPAREN condition=expression RPAREN then=branch (ELSE otherwise=branch)?;
branch          : LBRACE block=statements RBRACE | nested=ifStatement | value=expression? SEMI;

// --- Declarations

declaration     : specifiers+=specifier+ (declarators+=declarator (COMMA declarators+=declarator)*)? SEMI;
inlineDefinition: INLINE specifiers+=specifier+ declared=declarator ASSIGN value=expr SEMI;
translatorDefinition
                : TRANSLATOR to=typeName LESS from=typeName input=IDENTIFIER GREATER LBRACE members+=translatorMember* RBRACE SEMI;
translatorMember: name=IDENTIFIER ASSIGN value=expr SEMI;
providerDefinition
                : PROVIDER name=IDENTIFIER LBRACE probes+=providerProbe* RBRACE SEMI;
providerProbe   : KEY_PROBE name=IDENTIFIER native=signature (COLON translated=signature)? SEMI;
signature       : LPAREN list=parameters? RPAREN;

specifier       : storage=(STORAGE | TYPEDEF | SELF | THIS) | named=typeSpecifier;
typeSpecifier
    : QUALIFIER                                                                # qualifierSpecifier
    | USERLAND                                                                 # userlandSpecifier
    | ATTRIBUTE                                                                # attributeSpecifier
    | BASIC_TYPE                                                               # basicSpecifier
    | (TYPE_NAME | scoped=SCOPED_NAME)                                         # namedSpecifier
    | (STRUCT | UNION) attributes+=ATTRIBUTE* name=(IDENTIFIER | TYPE_NAME) (open=LBRACE members+=member* RBRACE)?       # structSpecifier
    | (STRUCT | UNION) attributes+=ATTRIBUTE* open=LBRACE members+=member* RBRACE                     # structSpecifier
    | (STRUCT | UNION) scoped=SCOPED_NAME                                      # structSpecifier
    | scope=(SCOPED_STRUCT | SCOPED_UNION) name=(IDENTIFIER | TYPE_NAME)       # structSpecifier
    | ENUM name=(IDENTIFIER | TYPE_NAME)
      (open=LBRACE enumerators+=enumerator (COMMA enumerators+=enumerator)* COMMA? RBRACE)?       # enumSpecifier
    | ENUM scoped=SCOPED_NAME                                                  # enumSpecifier
    | scope=SCOPED_ENUM name=(IDENTIFIER | TYPE_NAME)                          # enumSpecifier
    | ENUM open=LBRACE enumerators+=enumerator (COMMA enumerators+=enumerator)* COMMA? RBRACE     # enumSpecifier
    ;
member          : specifiers+=typeSpecifier+ (declarators+=memberDeclarator (COMMA declarators+=memberDeclarator)*)? SEMI | SEMI;
memberDeclarator: declared=declarator (colon=COLON width=expr attributes+=ATTRIBUTE*)? | colon=COLON width=expr;
enumerator      : name=(IDENTIFIER | TYPE_NAME | SCOPED_NAME) (ASSIGN value=expr)?;

declarator      : pointers+=pointer* direct=directDeclarator attributes+=ATTRIBUTE*;
pointer         : STAR qualifiers+=QUALIFIER*;
directDeclarator: (name=(IDENTIFIER | TYPE_NAME) | LPAREN inner=declarator RPAREN) suffixes+=declaratorSuffix*;
declaratorSuffix
    : LBRACKET RBRACKET                                                        # arraySuffix
    | LBRACKET count=expr RBRACKET                                             # arraySuffix
    | LBRACKET keys=parameters RBRACKET                                        # keySuffix
    | LPAREN list=parameters? RPAREN                                           # functionSuffix
    ;
parameters      : list+=parameter (COMMA list+=parameter)*;
parameter       : ellipsis=ELLIPSIS | specifiers+=specifier+ (declared=declarator | derived=abstractDeclarator)?;
abstractDeclarator
                : pointers+=pointer+ direct=directAbstract? | direct=directAbstract;
directAbstract  : LPAREN inner=abstractDeclarator RPAREN suffixes+=declaratorSuffix* | suffixes+=declaratorSuffix+;
knownType       : specifiers+=typeSpecifier+ derived=abstractDeclarator?;
// An identifier that the lexer does not know as a type may name one of the traced process, where it can be nothing else.
typeName        : known=knownType | qualifiers+=QUALIFIER* name=IDENTIFIER qualifiers+=QUALIFIER* derived=abstractDeclarator?;

// --- Expressions, C's precedence from the top down

expression      : list+=expr (COMMA list+=expr)*;

expr
    : INTEGER                                                                  # integer
    | FLOATING                                                                 # floating
    | CHARACTER                                                                # character
    | STRING                                                                   # string
    | MACRO                                                                    # macro
    | AGGREGATION                                                              # aggregation
    | scope=(SELF | THIS) ARROW name=(IDENTIFIER | TYPE_NAME)                  # scoped
    | IDENTIFIER LPAREN (list+=expr (COMMA list+=expr)*)? RPAREN               # call
    | IDENTIFIER                                                               # identifier
    | SCOPED_NAME                                                              # external
    | LPAREN inner=expression RPAREN                                           # parenthesized
    | OFFSETOF LPAREN of=typeName COMMA name=(IDENTIFIER | TYPE_NAME) RPAREN   # offsetOf
    | what=(SIZEOF | ALIGNOF) LPAREN of=knownType RPAREN                        # sizeofType
    | XLATE LESS to=typeName GREATER LPAREN operand=expression RPAREN          # translate
    | base=expr LBRACKET list+=expr (COMMA list+=expr)* RBRACKET               # index
    | base=expr op=(DOT | ARROW) name=(IDENTIFIER | TYPE_NAME)                 # select
    | operand=expr op=(INCREMENT | DECREMENT)                                  # postfix
    | op=(INCREMENT | DECREMENT | PLUS | MINUS | TILDE | NOT | STAR | AND) operand=expr           # unary
    | SIZEOF operand=expr                                                      # sizeofValue
    | STRINGOF operand=expr                                                    # stringOf
    | LPAREN to=typeName RPAREN operand=expr                                   # cast
    | left=expr op=(STAR | SLASH | PERCENT) right=expr                         # binary
    | left=expr op=(PLUS | MINUS) right=expr                                   # binary
    | left=expr op=(SHIFT_LEFT | SHIFT_RIGHT) right=expr                       # binary
    | left=expr op=(LESS | LESS_EQUAL | GREATER | GREATER_EQUAL) right=expr    # binary
    | left=expr op=(EQUAL | NOT_EQUAL) right=expr                              # binary
    | left=expr op=AND right=expr                                              # binary
    | left=expr op=XOR right=expr                                              # binary
    | left=expr op=OR right=expr                                               # binary
    | left=expr op=LOGICAL_AND right=expr                                      # binary
    | left=expr op=LOGICAL_XOR right=expr                                      # binary
    | left=expr op=LOGICAL_OR right=expr                                       # binary
    | <assoc=right> condition=expr QUESTION then=expression COLON otherwise=expr                  # conditional
    | <assoc=right> target=expr op=(ASSIGN | ASSIGN_OP) value=expr             # assignment
    ;
